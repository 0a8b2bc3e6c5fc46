// Package pacing counts the requests of client-go's Reflector to failing sources, for
// tests/pipeline/reflector/client_go.rs.
package pacing

import (
	"math/rand/v2"
)

const (
	seed      = 17
	scenarios = 200
)

// A scenario is a source with scripted responses; each script repeats from its beginning.
type scenario struct {
	// WatchList is true if the source supports streaming lists.
	WatchList bool        `json:"watchList"`
	Lists     []listStep  `json:"lists"`
	Watches   []watchStep `json:"watches"`
}

// A listStep responds to one list after a delay.
type listStep struct {
	Millis int    `json:"millis"`
	Error  string `json:"error"`
}

// A watchStep responds to one watch, with an error or a stream.
type watchStep struct {
	// Start is the error instead of a stream.
	Start string `json:"start"`
	// Unfinished omits the bookmark that ends an initial list.
	Unfinished bool `json:"unfinished"`
	Events     int  `json:"events"`
	Bookmark   bool `json:"bookmark"`
	// Millis is the lifetime of the stream; its timeout ends it cleanly if shorter.
	Millis int `json:"millis"`
	// End is the error that ends the stream; if empty it ends cleanly.
	End string `json:"end"`
}

var (
	lifetimes   = []int{0, 1, 10, 100, 500, 999, 1000, 2000, 5000, 15000, 29000, 30000, 31000, 45000, 60000, 90000, 119000, 120000, 121000, 180000, 290000, 600000}
	startErrors = []string{"410", "500", "429", "503", "401", "403", "404", "refused", "cut", "html", "tooLarge"}
	endErrors   = []string{"410", "410", "500", "500", "429", "decode", "cut", "cut", "503"}
	listErrors  = []string{"410", "500", "429", "503", "401", "403", "404", "refused", "cut", "html", "tooLarge"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// draw returns the scenarios, which are always the same.
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
		// Not compared: after an initial list that ends cleanly kdelta lists, where client-go watches again at once and
		// forever; and after an initial list without its last bookmark for 10 s kdelta uses plain lists.
		step.Unfinished = r.IntN(6) == 0 && step.Millis < 10_000
	}
	return step
}
