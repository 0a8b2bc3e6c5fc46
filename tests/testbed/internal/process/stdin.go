// Package process handles the process itself: its end together with its parent's, and its use of resources.
package process

import (
	"context"
	"io"
	"os"
)

// EndWithStdin returns a context that also ends when standard input, if it is a pipe, reaches its end: if the process
// at the other end dies, the server ends too.
func EndWithStdin(ctx context.Context) context.Context {
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
