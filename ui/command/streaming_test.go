package command

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/ui/session"
)

// TestWatchWritesLinesIntoAPipeUntilItsReaderLeaves holds with a relay and without.
func TestWatchWritesLinesIntoAPipeUntilItsReaderLeaves(t *testing.T) {
	t.Parallel()
	for name, relay := range map[string]bool{"with a relay": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := quiet()
			c.Lists = true
			w := newWorld(t, c)
			if !relay {
				w.settings.RelayURL = ""
			}
			current, err := session.Open(w.settings, session.Options{Memory: session.Keeps})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(current.Close)
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			ended := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() {
				ended <- show(ctx, current, screenOptions{plain: true, json: true}, nil, out)
			}()
			made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
			lines := bufio.NewScanner(in)
			lines.Buffer(nil, 8<<20)
			if !lines.Scan() || !strings.Contains(lines.Text(), `"kind":"stream"`) || !strings.Contains(lines.Text(), `"environment":"simulator"`) {
				t.Fatalf("it begins with %q", lines.Text())
			}
			var id api.ID
			for whole := false; id == ""; {
				if !lines.Scan() {
					t.Fatalf("it ended: %v", lines.Err())
				}
				var f account.Frame
				if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
					t.Fatalf("%v in %s", err, lines.Text())
				}
				if whole = whole || f.Whole; !whole {
					t.Fatalf("changes come before the picture: %s", lines.Text())
				}
				for _, in := range f.Intents {
					if in.State == api.AwaitingConfirmation && in.Certainty == account.Verified {
						id = in.ID
					}
				}
			}
			in.Close()
			current.Watcher.Refresh(id) // something to tell
			if err := <-ended; err != nil || ctx.Err() != nil {
				t.Errorf("it ended with %v (%v), want no error soon", err, ctx.Err())
			}
		})
	}
}
