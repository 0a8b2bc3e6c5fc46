// The statuses of the pods of testbed load, as a kubelet would report them.

package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// loadEpoch is the start time of the synthetic pods; a fixed time makes a load reproducible.
var loadEpoch = time.Date(2026, time.September, 1, 8, 0, 0, 0, time.UTC)

// SetStatus fills in the status of a created pod.
func SetStatus(pod *corev1.Pod, seed uint64, index int) {
	rng := podRandom(seed, index)
	rng.Uint64() // the first draw decided the node
	phase := drawPhase(rng)
	started := metav1.NewTime(loadEpoch.Add(time.Duration(rng.IntN(40*24*3600)) * time.Second))
	host := fmt.Sprintf("10.1.%d.%d", rng.IntN(4), 10+rng.IntN(200))

	pod.Status.Phase = phase
	pod.Status.StartTime = &started
	pod.Status.HostIP, pod.Status.HostIPs = host, []corev1.HostIP{{IP: host}}
	if phase != corev1.PodPending {
		ip := fmt.Sprintf("10.2.%d.%d", index>>8&0xff, index&0xff)
		pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	pod.Status.Conditions = conditions(phase, started)
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, containerStatus(rng, container, phase, started))
	}
}

func drawPhase(rng *rand.Rand) corev1.PodPhase {
	switch draw := rng.IntN(100); {
	case draw < 5:
		return corev1.PodPending
	case draw < 7:
		return corev1.PodSucceeded
	case draw < 9:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}

func conditions(phase corev1.PodPhase, started metav1.Time) []corev1.PodCondition {
	condition := func(kind corev1.PodConditionType, holds bool, after time.Duration) corev1.PodCondition {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(started.Add(after))}
		switch {
		case holds:
			c.Status = corev1.ConditionTrue
		case phase == corev1.PodSucceeded:
			c.Reason = "PodCompleted"
		default:
			c.Reason = "ContainersNotReady"
		}
		return c
	}
	running := phase == corev1.PodRunning
	return []corev1.PodCondition{
		condition(corev1.PodInitialized, true, 0),
		condition(corev1.PodReady, running, 9*time.Second),
		condition(corev1.ContainersReady, running, 9*time.Second),
		condition(corev1.PodScheduled, true, 0),
	}
}

func containerStatus(rng *rand.Rand, container corev1.Container, phase corev1.PodPhase, started metav1.Time) corev1.ContainerStatus {
	running := phase == corev1.PodRunning
	status := corev1.ContainerStatus{
		Name:    container.Name,
		Image:   container.Image,
		Ready:   running,
		Started: &running,
		State:   containerState(phase, metav1.NewTime(started.Add(3*time.Second))),
	}
	if phase == corev1.PodPending {
		return status
	}
	status.ImageID = fmt.Sprintf("%s@sha256:%016x%016x%016x%016x", container.Image, rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	status.ContainerID = fmt.Sprintf("containerd://%016x%016x%016x%016x", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	if rng.IntN(10) == 0 {
		status.RestartCount = int32(1 + rng.IntN(12))
	}
	return status
}

func containerState(phase corev1.PodPhase, since metav1.Time) corev1.ContainerState {
	finished := metav1.NewTime(since.Add(20 * time.Minute))
	switch phase {
	case corev1.PodPending:
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	case corev1.PodSucceeded:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: since, FinishedAt: finished}}
	case corev1.PodFailed:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: since, FinishedAt: finished}}
	default:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}
	}
}
