// sleep PORT SHAPE MEAN_MS: each answer sleeps in its goroutine, and nobody waits for anybody: N users get N / mean.
// SHAPE is `fixed`, `exponential`, `tail` (Pareto with exponent 1.5, from a third of the mean on, to 30 times the mean), or `cache`
// (nine in ten take half of the mean).
package main

import (
	"io"
	"log"
	"math"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	port, shape := os.Args[1], os.Args[2]
	mean, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		log.Fatal(err)
	}
	waitMs := map[string]func() float64{
		"fixed":       func() float64 { return mean },
		"exponential": func() float64 { return mean * rand.ExpFloat64() },
		"tail":        func() float64 { return math.Min(mean/3*math.Pow(1-rand.Float64(), -1/1.5), 30*mean) },
		"cache": func() float64 {
			if rand.Float64() < 0.9 {
				return mean * 0.5
			}
			return mean * 5.5
		},
	}[shape]
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(time.Duration(waitMs() * float64(time.Millisecond)))
		io.WriteString(w, "hello")
	})))
}
