const express = require('express');

const router = express.Router();
const items = [
  { id: 1, name: 'teapot', cents: 2900 },
  { id: 2, name: 'cup', cents: 650 },
  { id: 3, name: 'saucer', cents: 480 },
];

router.get('/', (req, res) => {
  res.json(items);
});

router.get('/:id', (req, res) => {
  const item = items.find((it) => it.id === Number(req.params.id));
  if (item === undefined) {
    res.sendStatus(404);
    return;
  }
  res.json(item);
});

module.exports = router;
