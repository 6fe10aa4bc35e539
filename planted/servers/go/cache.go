// cache PORT COLD_MS WARM_MS COUNT: the first COUNT answers take COLD_MS, all others WARM_MS: a step in the rate.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

func main() {
	numbers := make([]int64, 0, 3)
	for _, word := range os.Args[2:5] {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	cold, warm := time.Duration(numbers[0])*time.Millisecond, time.Duration(numbers[1])*time.Millisecond
	var answers atomic.Int64
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answers.Add(1) > numbers[2] {
			time.Sleep(warm)
		} else {
			time.Sleep(cold)
		}
		io.WriteString(w, "hello")
	})))
}
