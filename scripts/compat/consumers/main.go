// What others make of Proofload's exports, by their own code: Prometheus' parsers of its text formats, the types of its
// remote write, OpenTelemetry's decoder of OTLP. It prints a line of JSON for each sample that they see.
//
//	consumers text FILE            Prometheus text format 0.0.4
//	consumers openmetrics FILE     OpenMetrics 1.0
//	consumers receive OUT          listens on loopback for remote write and OTLP, prints its address, and writes what
//	                               comes to OUT; each path refuses its first message with 503
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// A sample as a consumer sees it, under the name that Prometheus has for it.
type sample struct {
	From   string            `json:"from"`
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	// Spelt as text: JSON has no infinity.
	Value string `json:"value"`
	// Milliseconds since 1970; 0 where there is none.
	TimeMs int64  `json:"time_ms"`
	Kind   string `json:"kind"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: consumers text|openmetrics FILE, or consumers receive OUT"))
	}
	out := json.NewEncoder(os.Stdout)
	print := func(it sample) {
		if err := out.Encode(it); err != nil {
			fail(err)
		}
	}
	var err error
	switch os.Args[1] {
	case "text":
		err = readText(os.Args[2], print)
	case "openmetrics":
		err = readOpenMetrics(os.Args[2], print)
	case "receive":
		err = receive(os.Args[2])
	default:
		err = fmt.Errorf("%s is none of text, openmetrics, receive", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "consumers:", err)
	os.Exit(1)
}
