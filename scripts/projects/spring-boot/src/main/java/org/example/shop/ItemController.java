package org.example.shop;

import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/api/items")
public class ItemController {

    private static final List<Item> ITEMS = List.of(
            new Item(1, "teapot", 2900), new Item(2, "cup", 650), new Item(3, "saucer", 480));

    @GetMapping
    public List<Item> all() {
        return ITEMS;
    }

    @GetMapping("/{id}")
    public Item one(@PathVariable int id) {
        return ITEMS.stream().filter(item -> item.id() == id).findFirst()
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }
}
