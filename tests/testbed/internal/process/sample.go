// The resource usage of the process.

package process

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sample is the resource usage of this process.
type Sample struct {
	PeakRSS int64
	CPU     time.Duration
}

// TakeSample measures this process.
func TakeSample() Sample {
	var sample Sample
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		sample.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			sample.PeakRSS = kilobytes << 10
		}
	}
	return sample
}
