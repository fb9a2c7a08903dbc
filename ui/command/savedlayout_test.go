package command

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"tillwatch/ui/dashboard"
)

// rememberAll runs r over layouts, the last of which is to be remembered.
func rememberAll(t *testing.T, r *savedLayout, layouts ...dashboard.Layout) {
	t.Helper()
	for _, l := range layouts {
		r.remember(l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2 { // the last one may be taken by either case
		if err := r.run(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheArrangementOutlivesARun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "not there yet")
	r, warning := loadLayout(folder, "auto")
	if warning != "" || !reflect.DeepEqual(r.layout, dashboard.Layout{}) {
		t.Fatalf("at first: %+v, %q", r.layout, warning)
	}
	want := dashboard.Layout{Hidden: []string{"quota"}, Theme: "light", NoMouse: true, Acquainted: true}
	rememberAll(t, r, dashboard.Layout{Theme: "dark"}, want)
	again, warning := loadLayout(folder, "auto")
	if warning != "" || !reflect.DeepEqual(again.layout, want) {
		t.Errorf("recalled %+v, %q; want %+v", again.layout, warning, want)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestAThemeThatIsConfiguredAnewWinsOverTheRememberedOne(t *testing.T) {
	folder := t.TempDir()
	r, _ := loadLayout(folder, "auto")
	rememberAll(t, r, dashboard.Layout{Theme: "light", NoMouse: true})
	again, _ := loadLayout(folder, "high-contrast")
	if again.layout.Theme != "" || !again.layout.NoMouse {
		t.Errorf("recalled %+v", again.layout)
	}
}

func TestWhatCannotBeUnderstoodIsReportedAndPutAside(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":      "{",
		"another form": `{"hidden":7}`,
		"empty":        "",
		"far too long": strings.Repeat(" ", 1<<20+1),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "layout.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, warning := loadLayout(folder, "auto")
			if !strings.Contains(warning, path) || !reflect.DeepEqual(r.layout, dashboard.Layout{}) {
				t.Errorf("recalled %+v, %q", r.layout, warning)
			}
			rememberAll(t, r, dashboard.Layout{Theme: "light"})
			if again, warning := loadLayout(folder, "auto"); again.layout.Theme != "light" || warning != "" {
				t.Errorf("afterwards %+v, %q", again.layout, warning)
			}
			if aside, err := os.ReadFile(path + ".bad"); err != nil || string(aside) != content {
				t.Errorf("put aside: %.20q, %v", aside, err)
			}
		})
	}
}

func TestAnArrangementThatCouldNotBeSavedIsSavedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "state")
		r, _ := loadLayout(folder, "auto")
		writeFile(t, folder, "") // no folder
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.run(ctx) }()
		want := dashboard.Layout{ByOrder: true}
		r.remember(want)
		synctest.Wait()
		if r.failed == nil || !strings.Contains(r.failed.Error(), "saving the arrangement of the screen: ") {
			t.Errorf("it tells %v", r.failed)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if again, _ := loadLayout(folder, "auto"); !reflect.DeepEqual(again.layout, want) || r.failed != nil {
			t.Errorf("saved %+v, and told %v", again.layout, r.failed)
		}
	})
}
