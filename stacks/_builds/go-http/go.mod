module proofload.example/stacks/go-http

go 1.24
