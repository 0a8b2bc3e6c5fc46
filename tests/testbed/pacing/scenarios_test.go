// Package pacing counts how often client-go's Reflector asks a failing source, for tests/pipeline/reflector/client_go.rs.
package pacing

import (
	"math/rand/v2"
)

const (
	seed      = 17
	scenarios = 200
)

// A scenario is a source that answers requests from scripts, each repeated from its beginning when it has come to its end.
type scenario struct {
	// WatchList says whether the source supports the initial state through a watch.
	WatchList bool        `json:"watchList"`
	Lists     []listStep  `json:"lists"`
	Watches   []watchStep `json:"watches"`
}

// A listStep answers one list after a time.
type listStep struct {
	Millis int    `json:"millis"`
	Error  string `json:"error"`
}

// A watchStep answers one watch: with an error, or with a stream.
type watchStep struct {
	// Start is the error instead of a stream.
	Start string `json:"start"`
	// Unfinished leaves out the bookmark that ends an initial state.
	Unfinished bool `json:"unfinished"`
	Events     int  `json:"events"`
	Bookmark   bool `json:"bookmark"`
	// Millis is the lifetime of the stream; its timeout ends it sooner, and then cleanly.
	Millis int `json:"millis"`
	// End is the error that ends the stream; empty ends it cleanly.
	End string `json:"end"`
}

var (
	lifetimes   = []int{0, 1, 10, 100, 500, 999, 1000, 2000, 5000, 15000, 29000, 30000, 31000, 45000, 60000, 90000, 119000, 120000, 121000, 180000, 290000, 600000}
	startErrors = []string{"410", "500", "429", "503", "401", "403", "404", "refused", "cut", "html", "tooLarge"}
	endErrors   = []string{"410", "410", "500", "500", "429", "decode", "cut", "cut", "503"}
	listErrors  = []string{"410", "500", "429", "503", "401", "403", "404", "refused", "cut", "html", "tooLarge"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// draw makes the scenarios: always the same.
func draw() []scenario {
	r := rand.New(rand.NewPCG(seed, seed))
	all := make([]scenario, scenarios)
	for at := range all {
		s := scenario{WatchList: r.IntN(3) == 0}
		s.Lists = []listStep{{Millis: pick(r, []int{0, 10, 1000})}}
		for range r.IntN(6) - 2 {
			s.Lists = append(s.Lists, listStep{Millis: pick(r, []int{0, 10, 1000}), Error: pick(r, listErrors)})
		}
		for range 1 + r.IntN(3) {
			s.Watches = append(s.Watches, drawWatch(r))
		}
		all[at] = s
	}
	return all
}

func drawWatch(r *rand.Rand) watchStep {
	if r.IntN(5) == 0 {
		return watchStep{Start: pick(r, startErrors)}
	}
	step := watchStep{Events: pick(r, []int{0, 0, 1, 1, 5}), Bookmark: r.IntN(3) == 0, Millis: pick(r, lifetimes)}
	if r.IntN(3) != 0 {
		step.End = pick(r, endErrors)
		// Not compared: after an initial state that ends cleanly kdelta lists, where client-go asks for another watch at
		// once and for ever; and one without its last bookmark for 10 s is listed from then on.
		step.Unfinished = r.IntN(6) == 0 && step.Millis < 10_000
	}
	return step
}
