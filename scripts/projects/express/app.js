const express = require('express');

const itemsRouter = require('./routes/items');
const healthRouter = require('./routes/health');

const app = express();
app.use(express.json());
app.use('/', healthRouter);
app.use('/api/items', itemsRouter);

module.exports = app;
