package attention

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"tillwatch/api/account"
)

func damage(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestChangesOfSeveralProcessesComeTogether(t *testing.T) {
	folder := t.TempDir()
	var together sync.WaitGroup
	for _, cause := range []string{"down", "silent", "refused"} {
		together.Go(func() {
			f := OpenFile(folder, "an account")
			f.Change(func(m *Memory) { m.Put(Off{Key: Key{Kind: account.AlertRelay, Cause: cause}, At: noon}) })
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := f.Run(ctx); err != nil || f.Err() != nil {
				t.Error(err, f.Err())
			}
		})
	}
	together.Wait()
	if m, err := OpenFile(folder, "an account").Load(); err != nil || len(m.Off) != 3 {
		t.Errorf("kept is %+v, %v", m, err)
	}
	if m, err := OpenFile(folder, "another account").Load(); err != nil || !reflect.DeepEqual(m, Memory{}) {
		t.Errorf("another account has %+v, %v", m, err)
	}
}

func TestAFileThatCannotBeReadIsReportedAndLeftAlone(t *testing.T) {
	for content, want := range map[string]string{"{": "is damaged", `{"version":2}`: "of a newer tillwatch", "{}": "is damaged"} {
		f := OpenFile(t.TempDir(), "an account")
		damage(t, f.path, content)
		if m, err := f.Load(); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(m, Memory{}) {
			t.Errorf("%s is read as %+v, %v", content, m, err)
		}
		f.Change(func(m *Memory) { m.See(noon, noon) })
		f.flush()
		if got, err := os.ReadFile(f.path); err != nil || string(got) != content || f.Err() == nil {
			t.Errorf("%s became %s, %v, and the error is %v", content, got, err, f.Err())
		}
	}
}

func TestChangesThatCouldNotBeSavedAreSavedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "state")
		f := OpenFile(folder, "an account")
		damage(t, folder, "") // no folder
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		for _, cause := range []string{"down", "silent"} {
			f.Change(func(m *Memory) { m.Put(Off{Key: Key{Kind: account.AlertRelay, Cause: cause}, At: noon}) })
			synctest.Wait()
			if f.Err() == nil {
				t.Fatal("a file was taken for a folder")
			}
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-ended; err != nil || f.Err() != nil {
			t.Errorf("at the end: %v, %v", err, f.Err())
		}
		if m, err := f.Load(); err != nil || len(m.Off) != 2 {
			t.Errorf("kept is %+v, %v", m, err)
		}
	})
}
