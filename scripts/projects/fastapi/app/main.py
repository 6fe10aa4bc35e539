from fastapi import FastAPI

from app.routers import items

app = FastAPI(title="shop")
app.include_router(items.router, prefix="/api")


@app.get("/health")
async def health():
    return {"status": "ok"}
