// Gin as its own guide begins, with a logger and a recovery around each request, or without either.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server MODE ADDRESS")
	}
	router := newRouter(os.Args[1])
	router.GET("/hello", func(c *gin.Context) { c.String(http.StatusOK, "hello") })
	router.GET("/sleep", func(c *gin.Context) {
		time.Sleep(100 * time.Millisecond)
		c.String(http.StatusOK, "hello")
	})
	router.GET("/slowAPI", slow)
	log.Fatal(router.Run(os.Args[2]))
}

func newRouter(mode string) *gin.Engine {
	switch mode {
	case "default":
		gin.DisableConsoleColor()
		return gin.Default()
	case "quiet":
		gin.SetMode(gin.ReleaseMode)
		return gin.New()
	}
	log.Fatalf("no mode %q: default or quiet", mode)
	return nil
}

// slow answers after as many milliseconds as it is asked to wait, a second if not told.
func slow(c *gin.Context) {
	slowness, err := strconv.Atoi(c.DefaultQuery("timeSlowness", "1000"))
	if err != nil {
		c.String(http.StatusBadRequest, "timeSlowness is no number")
		return
	}
	time.Sleep(time.Duration(slowness) * time.Millisecond)
	c.String(http.StatusOK, "success")
}
