module example.org/shop/cart

go 1.19
