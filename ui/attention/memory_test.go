package attention

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestWhatIsPutOffIsBounded(t *testing.T) {
	var m Memory
	for i := range 2 * most {
		m.Put(Off{Key: Key{Kind: account.AlertFailed, Intent: api.ID(fmt.Sprint("ci_", i))}, At: noon})
	}
	if len(m.Off) != most || m.Off[0].Intent != api.ID(fmt.Sprint("ci_", most)) {
		t.Errorf("%d are kept, the oldest is %s", len(m.Off), m.Off[0].Intent)
	}
}

func TestOneAlertIsPutOffInOneWay(t *testing.T) {
	var m Memory
	a := account.Alert{Kind: account.AlertFailed, Intent: "ci_1"}
	m.Put(Off{Key: KeyOf(a), At: noon})
	m.Put(Off{Key: KeyOf(a), At: noon, Until: noon.Add(time.Minute)})
	if _, ok := m.OffOf(a, noon.Add(time.Hour)); ok || len(m.Off) != 1 {
		t.Errorf("muted after it was acknowledged, it is still off an hour later: %+v", m.Off)
	}
	m.Put(Off{Key: Key{Kind: a.Kind}, All: true, At: noon, Until: noon.Add(time.Hour)})
	if off, ok := m.OffOf(a, noon); !ok || !off.All {
		t.Errorf("its kind is muted for longer, and it is off by %+v", off)
	}
	other := account.Alert{Kind: account.AlertStuck, Intent: "ci_1"}
	if _, ok := m.OffOf(other, noon); ok {
		t.Error("an alert of another kind is off, too")
	}
}

func damage(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// saved has a change saved, and what waits before it.
func saved(t *testing.T, f *File, do func(*Memory)) {
	t.Helper()
	f.Change(do)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestChangesOfSeveralProcessesComeTogether(t *testing.T) {
	folder := t.TempDir()
	var together sync.WaitGroup
	for _, cause := range []string{"down", "silent", "refused"} {
		together.Go(func() {
			f := OpenFile(folder, "an account")
			saved(t, f, func(m *Memory) { m.Put(Off{Key: Key{Kind: account.AlertRelay, Cause: cause}, At: noon}) })
			if f.Err() != nil {
				t.Error(f.Err())
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
	f := OpenFile(t.TempDir(), "an account")
	damage(t, f.path, "{")
	if m, err := f.Load(); err == nil || !strings.Contains(err.Error(), "is damaged") ||
		!reflect.DeepEqual(m, Memory{}) {
		t.Errorf("it is read as %+v, %v", m, err)
	}
	saved(t, f, func(m *Memory) { m.See(noon, noon) })
	if got, err := os.ReadFile(f.path); err != nil || string(got) != "{" || f.Err() == nil {
		t.Errorf("it became %s, %v, and the error is %v", got, err, f.Err())
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if saved(t, f, func(m *Memory) { m.See(noon, noon) }); f.Err() != nil {
		t.Error(f.Err())
	}
}
