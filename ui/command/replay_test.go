package command

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tillwatch/ui/config"
	"tillwatch/ui/recording"
	"tillwatch/ui/wording"
)

const recordedDay = "../recording/testdata/day.tillwatch"

// openReplay shows a recording on an emulated screen.
func openReplay(t *testing.T, path string, cfg recording.PlayerConfig, width, height int) (s *screen, left chan struct{}) {
	t.Helper()
	player, err := recording.OpenPlayer(path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, left = newScreen(t, width, height), make(chan struct{})
	owned(t, func(ctx context.Context) error {
		defer close(left)
		o := replayOptions{player: cfg, screen: screenOptions{width: width, height: height}}
		return showReplay(ctx, config.Defaults(), player, o, s, s)
	})
	return s, left
}

func TestAReplayIsPausedSteppedSoughtAndLeft(t *testing.T) {
	t.Parallel()
	s, left := openReplay(t, recordedDay, recording.PlayerConfig{Paused: true, From: 2 * 3600e9}, 120, 36)
	began := s.waitFor(t, `REPLAY`, `‖ paused +\S+ +2h `, `change \d+ of \d+`, `INTENTS \d+`)
	var change, changes int
	if _, err := fmt.Sscanf(strings.ReplaceAll(regexp.MustCompile(`change [\d,]+ of [\d,]+`).FindString(began), ",", ""), "change %d of %d", &change, &changes); err != nil {
		t.Fatal(err)
	}

	s.press(t, "}}")
	s.waitFor(t, `paused +\S+ +2h2m `)
	s.press(t, "{{")
	s.waitFor(t, `paused +\S+ +2h `)
	s.press(t, ".")
	s.waitFor(t, fmt.Sprintf(`change %d of`, change+1), `paused`)
	s.press(t, ",,")
	s.waitFor(t, fmt.Sprintf(`change %d of`, change-1), `paused`)
	s.press(t, "\x1b[H") // home
	s.waitFor(t, `paused +\S+ +0s`, `change 1 of`)
	s.press(t, ">>>")
	s.waitFor(t, `10×`)
	s.press(t, "<")
	s.waitFor(t, `5×`)
	s.press(t, " ")
	s.waitFor(t, `▶ playing`)
	s.press(t, "\x1b[F") // end
	s.waitFor(t, `■ ended`, fmt.Sprintf(`change %[1]s of %[1]s`, wording.Count(changes)))
	s.press(t, "{{{{{{{{{{") // far enough from the end to be seen
	s.waitFor(t, `▶ playing`)

	s.press(t, "1cxXr")
	s.press(t, "?")
	help := s.waitFor(t, `Pause or resume`, `Step forward`)
	if regexp.MustCompile(`(?i)confirm intent|read again|freeze`).MatchString(help) {
		t.Errorf("the help offers what would act:\n%s", help)
	}
	s.press(t, "\x1b")
	s.waitGone(t, `Step forward`) // an escape with a q at its heels is alt+q
	s.press(t, "q")
	<-left
}
