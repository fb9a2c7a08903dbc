package account

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

// In this variable the test gives a process of its own the folder to save into.
const killedFolder = "TILLWATCH_TEST_SAVE_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedFolder); dir != "" {
		saveUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// saveUntilKilled saves one generation of a picture after the other and prints
// the number of each that is saved.
func saveUntilKilled(dir string) {
	f, err := OpenSaved(SavedConfig{Dir: dir, Account: "staging https://api.example.com", MaxAge: forEver})
	s := NewStore(StoreConfig{})
	if err == nil {
		err = f.Restore(s)
	}
	for err == nil {
		g := generation(s) + 1
		for i := range 300 {
			s.ApplyRead(api.Intent{ID: benchID(i), State: api.Failed, Quantity: g}, noon.Add(time.Duration(g)*time.Second), ByRead)
		}
		if err = f.Save(s); err == nil {
			fmt.Println(g)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// generation is that of a whole picture; 0 of an empty one, -1 of a mixed one.
func generation(s *Store) int {
	all := s.Changes(0).Intents
	if len(all) == 0 {
		return 0
	}
	for _, in := range all {
		if in.Quantity != all[0].Quantity || len(all) != 300 {
			return -1
		}
	}
	return all[0].Quantity
}

func TestProcessKilledWhileSavingLeavesTheLastPictureOrTheOneBefore(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for kill := range unlessRaced(50, 10) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), killedFolder+"="+dir)
		var words strings.Builder
		child.Stderr = &words
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		last, lines := 0, bufio.NewScanner(out)
		for most := 1 + random.IntN(3); most > 0 && lines.Scan(); most-- {
			last, _ = strconv.Atoi(lines.Text())
		}
		for range random.IntN(200_000) { // somewhere within the next save
			_ = random.Uint64()
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			last, _ = strconv.Atoi(lines.Text())
		}
		_ = child.Wait() // it was killed
		if last == 0 {
			t.Fatalf("kill %d: nothing was saved: %s", kill, words.String())
		}
		s := mustRestore(t, openSaved(t, dir))
		if g := generation(s); g != last && g != last+1 {
			t.Fatalf("kill %d: opened generation %d, the last saved is %d", kill, g, last)
		}
	}
}
