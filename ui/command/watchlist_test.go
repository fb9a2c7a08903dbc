package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsAddedToTheWatchListAppearsOnTheBoardAndABadLineIsShownUntilItIsMended(t *testing.T) {
	t.Parallel()
	w, ids := awaitingWorld(t, 2, nil)
	w.settings.RelayURL = "" // the list alone names intents
	w.settings.WatchList = filepath.Join(t.TempDir(), "ids")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(w.settings.WatchList, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# what the board is to watch", ids[0])
	if err := readWatchIDs(&w.settings, t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.openBoard(t, 120, 36)
	if board := w.screen.waitFor(t, `awaiting 1\b`, `Item 00`); strings.Contains(board, "Item 01") {
		t.Fatalf("what nobody named is on the board:\n%s", board)
	}
	write(ids[0], ids[1], "what is this")
	w.screen.waitFor(t, `awaiting 2\b`, `Item 01`, `⚑ .*line 3: "what is this" is not an id: it contains a space`)
	write(ids[1])
	w.screen.waitGone(t, `what is this`)
	w.screen.waitFor(t, `awaiting 2\b`, `Item 00`) // what is known stays
}
