package main

import (
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"example.org/shop/internal/items"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })

	v1 := r.Group("/api/v1")
	v1.GET("/items", items.All)
	v1.GET("/items/:id", items.One)

	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(r.Run(":" + port))
}
