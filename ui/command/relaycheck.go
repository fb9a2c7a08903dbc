package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/ui/wording"
)

// relayHealth is the result of --check.
type relayHealth struct {
	Ready  bool     `json:"ready"`
	URL    string   `json:"url"`              // that was probed
	Status int      `json:"status,omitempty"` // of the answer; 0: no answer
	Reason api.Text `json:"reason,omitempty"` // why it is not ready
	TookMS float64  `json:"took_ms"`
}

// refuseOtherFlags refuses the flags that --check ignores.
func refuseOtherFlags(flags *pflag.FlagSet) error {
	var others []string
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "check", "check-timeout", "json", noColorFlag:
		default:
			others = append(others, "--"+f.Name)
		}
	})
	if len(others) > 0 {
		return usagef("--check probes a running relay: leave out %s", strings.Join(others, ", "))
	}
	return nil
}

// probeRelay asks a relay whether it is ready. The error says why it is not.
func probeRelay(ctx context.Context, address string, timeout time.Duration, asJSON bool, stdout io.Writer) error {
	probe, err := relay.NewProbe(address, nil)
	if err != nil {
		return usagef("--check: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	status, unhealthy := probe.Ask(ctx)
	took := time.Since(began)
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err() // interrupted
	}
	if unhealthy != nil && status == 0 && ctx.Err() != nil {
		unhealthy = fmt.Errorf("%w (%s)", unhealthy, timeout)
	}
	h := relayHealth{unhealthy == nil, probe.URL(), status, reasonOf(unhealthy), float64(took.Microseconds()) / 1000}
	text := ""
	if h.Ready {
		text = fmt.Sprintf("ready, answered in %s\n", wording.Took(took))
	}
	return errors.Join(printed(stdout, asJSON, h, text), unhealthy)
}

func reasonOf(unhealthy error) api.Text {
	var unready *relay.UnreadyError
	switch {
	case unhealthy == nil:
		return ""
	case errors.As(unhealthy, &unready):
		return unready.Reason
	}
	return api.Scrub(unhealthy.Error())
}
