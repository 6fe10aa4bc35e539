// mutex PORT HOW MS [BEFORE_MS]: each request holds one lock for MS: 1/MS a second. HOW is what it does meanwhile, `sleeps` or
// `computes`. Before that it waits for nobody, so long as is said.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

// compute does so for as long as it takes on a core of its own, which is found out once.
func compute(rounds int) (sum uint64) {
	for range rounds {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

// roundsIn says how many rounds fill the time: the most of a few tries, since others may use the core meanwhile.
func roundsIn(held time.Duration) int {
	const tried = 1_000_000
	best := time.Hour
	for range 20 {
		begun := time.Now()
		sink = compute(tried)
		best = min(best, time.Since(begun))
	}
	return int(float64(tried) * float64(held) / float64(best))
}

var sink uint64

func main() {
	held, err := time.ParseDuration(os.Args[3] + "ms")
	if err != nil {
		log.Fatal(err)
	}
	hold := func() { time.Sleep(held) }
	if os.Args[2] == "computes" {
		rounds := roundsIn(held)
		hold = func() { sink = compute(rounds) }
	}
	before := time.Duration(0)
	if len(os.Args) > 4 {
		if before, err = time.ParseDuration(os.Args[4] + "ms"); err != nil {
			log.Fatal(err)
		}
	}
	var lock sync.Mutex
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(before)
		lock.Lock()
		hold()
		lock.Unlock()
		io.WriteString(w, "hello")
	})))
}
