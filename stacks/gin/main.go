// Gin as a benchmark of it should be: release mode, and no middleware, so that no request is logged.
package main

import (
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: server ADDRESS")
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.GET("/hello", func(c *gin.Context) { c.String(http.StatusOK, "hello") })
	router.GET("/sleep", func(c *gin.Context) {
		time.Sleep(100 * time.Millisecond)
		c.String(http.StatusOK, "hello")
	})
	log.Fatal(router.Run(os.Args[1]))
}
