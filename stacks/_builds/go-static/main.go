// A web server for the files of one folder, as a beginner writes it: each request is logged, its file read from disk
// and written out whole. Whatever its name, the type of the answer is found by looking at it.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	quiet := flag.Bool("quiet", false, "log no requests")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: server [-quiet] ADDRESS FOLDER")
	}
	if *quiet {
		log.SetOutput(io.Discard)
	}
	folder := flag.Arg(1)
	handle := func(w http.ResponseWriter, r *http.Request) {
		log.Print("Processing request: ", r.URL.Path)
		// Plain names alone: whoever may ask may not leave the folder.
		content, err := os.ReadFile(filepath.Join(folder, filepath.Base(r.URL.Path)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		// Not http.ServeContent: that adds Accept-Ranges and Last-Modified.
		w.Write(content)
	}
	err := http.ListenAndServe(flag.Arg(0), http.HandlerFunc(handle))
	log.SetOutput(os.Stderr)
	log.Fatal(err)
}
