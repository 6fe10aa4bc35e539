from fastapi import APIRouter, HTTPException
from pydantic import BaseModel

router = APIRouter(prefix="/items", tags=["items"])


class Item(BaseModel):
    id: int
    name: str
    cents: int


ITEMS = [
    Item(id=1, name="teapot", cents=2900),
    Item(id=2, name="cup", cents=650),
    Item(id=3, name="saucer", cents=480),
]


@router.get("/")
async def all_items() -> list[Item]:
    return ITEMS


@router.get("/{item_id}")
async def one_item(item_id: int) -> Item:
    for item in ITEMS:
        if item.id == item_id:
            return item
    raise HTTPException(status_code=404)
