// gate PORT PERMITS MS: PERMITS requests at a time hold a place in a channel, each for MS: PERMITS/MS a second. Goroutines
// have no threads of their own, so none of the system's numbers is PERMITS.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	permits, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	held, err := time.ParseDuration(os.Args[3] + "ms")
	if err != nil {
		log.Fatal(err)
	}
	gate := make(chan struct{}, permits)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		gate <- struct{}{}
		time.Sleep(held)
		<-gate
		io.WriteString(w, "hello")
	})))
}
