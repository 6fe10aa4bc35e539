// limiter PORT HOW RATE: a bucket of tokens, RATE more of them a second: RATE answers a second, however many ask. HOW is `delays`
// (a request waits for its token; the bucket holds those of a second) or `refuses` (the bucket holds 20; without a token the
// answer is 429, at once).
package main

import (
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type bucket struct {
	lock sync.Mutex
	// When the next token is made. In the past: since then they gather, until the bucket is full.
	next      time.Time
	gap, full time.Duration
}

// token says how long to wait for the next token; it is taken if that is within the bound.
func (b *bucket) token(within time.Duration) time.Duration {
	b.lock.Lock()
	defer b.lock.Unlock()
	now := time.Now()
	if full := now.Add(-b.full); b.next.Before(full) {
		b.next = full
	}
	wait := max(0, b.next.Sub(now))
	if wait <= within {
		b.next = b.next.Add(b.gap)
	}
	return wait
}

func main() {
	rate, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		log.Fatal(err)
	}
	gap := time.Duration(float64(time.Second) / rate)
	delays := os.Args[2] == "delays"
	tokens := bucket{gap: gap, full: 20 * gap}
	if delays {
		tokens.full = time.Second
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if delays {
			time.Sleep(tokens.token(math.MaxInt64))
		} else if tokens.token(0) > 0 {
			http.Error(w, "too many", http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, "hello")
	})))
}
