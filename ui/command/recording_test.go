package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tillwatch/api/simulator"
	"tillwatch/ui/recording"
	"tillwatch/ui/session"
)

// recordedBoard shows the account of a world on an emulated screen, and returns what
// is said once it has been left.
func (w *world) recordedBoard(t *testing.T, file string) (words *bytes.Buffer) {
	t.Helper()
	current, err := session.Open(w.settings, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(current.Close)
	words = &bytes.Buffer{}
	w.session, w.screen, w.left = current, newScreen(t, 160, 36), make(chan struct{})
	owned(t, func(ctx context.Context) error {
		defer close(w.left)
		return show(ctx, current, screenOptions{width: 160, height: 36, record: file, words: words}, w.screen, w.screen)
	})
	w.screen.waitFor(t, `relay ● live`)
	return words
}

// recordings are the files of a folder, with flaws of none.
func recordings(t *testing.T, folder string) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.tillwatch"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		p, err := recording.OpenPlayer(path, recording.PlayerConfig{Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		if flaws := p.Flaws(); flaws != "" {
			t.Errorf("%s: %s", path, flaws)
		}
		if at, err := os.Stat(path); err != nil || at.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, error %v", path, at.Mode(), err)
		}
	}
	return paths
}

func TestRecordingsAreStartedAndEndedWhileTheBoardRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	words := w.recordedBoard(t, "")
	w.screen.waitFor(t, `tillwatch +simulator`) // the file's name has the environment, once an answer has told it
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `● rec`, `recording.*: .*/recordings/`)
	made(t, w.service, simulator.Order{ProductURL: chiliCrisp})
	w.screen.waitFor(t, `awaiting 1\b`, `USD`)
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `recorded \S+ in .*: tillwatch replay`)
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `● rec`)
	w.screen.press(t, "q") // the second one is ended with the board
	<-w.left
	paths := recordings(t, filepath.Join(w.settings.StateDir, "recordings"))
	if len(paths) != 2 || strings.Count(words.String(), "tillwatch replay ") != 2 {
		t.Fatalf("%v are recorded, and it says\n%s", paths, words)
	}
	for _, path := range paths {
		p, err := recording.OpenPlayer(path, recording.PlayerConfig{Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		header := p.Header()
		if !strings.HasPrefix(filepath.Base(path), "simulator-") || header.Environment != "simulator" || header.Live {
			t.Errorf("%s is of %q, live %t", path, header.Environment, header.Live)
		}
	}
	again, gone := openReplay(t, paths[0], recording.PlayerConfig{Paused: true, From: time.Hour}, 120, 36)
	again.waitFor(t, `awaiting 1\b`, `USD`)
	again.press(t, "q")
	<-gone
}

func TestARecordingFromTheStartIsEndedByKeyAndTheNextStandsBesideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	folder := t.TempDir()
	w.recordedBoard(t, filepath.Join(folder, "day.tillwatch"))
	w.screen.waitFor(t, `● rec`, `simulator`) // an answer has named it
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `recorded \S+ in .*: tillwatch replay`)
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `● rec`)
	w.screen.press(t, "q")
	<-w.left
	paths := recordings(t, folder)
	if len(paths) != 2 || filepath.Base(paths[0]) != "day-2.tillwatch" {
		t.Errorf("%v are recorded", paths)
	}
	for _, path := range paths {
		p, err := recording.OpenPlayer(path, recording.PlayerConfig{Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		if environment := p.Header().Environment; environment != "simulator" {
			t.Errorf("%s is of %q, as if no answer had named it", path, environment)
		}
	}
}

func TestAFolderThatIsLostEndsARecordingAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, quiet())
	if err := os.WriteFile(filepath.Join(w.settings.StateDir, "recordings"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.recordedBoard(t, "")
	w.screen.press(t, "\x12")
	w.screen.waitFor(t, `! not recorded: not a directory: .*recordings`)
	made(t, w.service, simulator.Order{ProductURL: chiliCrisp})
	w.screen.waitFor(t, `awaiting 1\b`)
	w.screen.press(t, "q")
	<-w.left
}
