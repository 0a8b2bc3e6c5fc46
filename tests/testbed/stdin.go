// Ending a command together with the process that started it.
package main

import (
	"context"
	"io"
	"os"
)

// endWithStdin returns a context that also ends when standard input, if it is a pipe, reaches its end: if the process
// at the other end dies, the server ends too.
func endWithStdin(ctx context.Context) context.Context {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}
