package org.example.shop;

public record Item(int id, String name, int cents) {
}
