module proofload.example/stacks/go-static

go 1.21
