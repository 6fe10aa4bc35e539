// Package items has what the shop sells.
package items

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// Item is one thing for sale.
type Item struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

var items = []Item{{1, "teapot", 2900}, {2, "cup", 650}, {3, "saucer", 480}}

// All answers with everything.
func All(c *gin.Context) {
	c.JSON(http.StatusOK, items)
}

// One answers with the item that the path names.
func One(c *gin.Context) {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil || id < 1 || id > len(items) {
		c.Status(http.StatusNotFound)
		return
	}
	c.JSON(http.StatusOK, items[id-1])
}
