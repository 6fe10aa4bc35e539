// limiter PORT HOW RATE: RATE answers a second, however many ask. HOW is `delays` (a request waits for its turn) or `refuses`
// (a bucket of 20 tokens; without one the answer is 429, at once).
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const bucket = 20

// A limiter gives one token every gap.
type limiter struct {
	lock sync.Mutex
	next time.Time
	gap  time.Duration
}

// turn says how long to wait for the next token, and takes it.
func (l *limiter) turn() time.Duration {
	l.lock.Lock()
	defer l.lock.Unlock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(l.gap)
	return l.next.Sub(now)
}

// take says whether there was a token.
func (l *limiter) take() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	now := time.Now()
	if full := now.Add(-bucket * l.gap); l.next.Before(full) {
		l.next = full
	}
	if l.next.After(now) {
		return false
	}
	l.next = l.next.Add(l.gap)
	return true
}

func main() {
	rate, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		log.Fatal(err)
	}
	limit := limiter{gap: time.Duration(float64(time.Second) / rate)}
	refuses := os.Args[2] == "refuses"
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuses && !limit.take() {
			http.Error(w, "too many", http.StatusTooManyRequests)
			return
		}
		if !refuses {
			time.Sleep(limit.turn())
		}
		io.WriteString(w, "hello")
	})))
}
