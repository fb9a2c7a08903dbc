package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
		"no JSON":          "{",
		"another form":     `{"version":1,"hidden":7}`,
		"without version":  `{"theme":"light"}`,
		"empty":            "",
		"far too long":     strings.Repeat(" ", maxLayoutFile+1),
		"negative version": `{"version":-1}`,
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

func TestAFileOfANewerVersionIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "layout.json")
	const content = `{"version":2,"theme":"light","hidden":7}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r, warning := loadLayout(folder, "auto")
	if !strings.Contains(warning, "newer") {
		t.Errorf("warning %q", warning)
	}
	rememberAll(t, r, dashboard.Layout{Theme: "light"})
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("it holds %q now, %v", got, err)
	}
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := loadLayout(folder, "auto")
	if err := r.save(dashboard.Layout{}); err == nil || !strings.Contains(err.Error(), "saving the arrangement of the screen") {
		t.Errorf("error %v", err)
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
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		cancel()
		var words strings.Builder
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		r.reportFailure(&words)
		if again, _ := loadLayout(folder, "auto"); !reflect.DeepEqual(again.layout, want) || words.Len() > 0 {
			t.Errorf("saved %+v, and told %q", again.layout, words.String())
		}
	})
}

func TestTheLastRunToSaveWins(t *testing.T) {
	folder := t.TempDir()
	late := []dashboard.NamedFilter{{Name: "late", Pane: "intents", Text: "wool"}}
	writeLayout(t, folder, layoutFile{Layout: dashboard.Layout{Filters: late}})
	first, _ := loadLayout(folder, "auto")
	second, _ := loadLayout(folder, "auto")
	rememberAll(t, first, dashboard.Layout{})
	if again, _ := loadLayout(folder, "auto"); !reflect.DeepEqual(again.layout, dashboard.Layout{}) {
		t.Errorf("recalled %+v of a file that was put aside", again.layout)
	}
	rememberAll(t, first, dashboard.Layout{Filters: late})
	rememberAll(t, second, dashboard.Layout{Theme: "light"})
	if again, _ := loadLayout(folder, "auto"); !reflect.DeepEqual(again.layout, dashboard.Layout{Theme: "light"}) {
		t.Errorf("recalled %+v, want what was saved last", again.layout)
	}
}

func TestAFileThatANewerVersionWroteMeanwhileIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	r, _ := loadLayout(folder, "auto")
	writeLayout(t, folder, layoutFile{Version: layoutVersion + 1, Layout: dashboard.Layout{Theme: "dark"}})
	before, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	rememberAll(t, r, dashboard.Layout{Theme: "light"})
	var words strings.Builder
	r.reportFailure(&words)
	if got, err := os.ReadFile(r.path); err != nil || !slices.Equal(got, before) || !strings.Contains(words.String(), "written by a newer tillwatch (version 2): it is left alone") {
		t.Errorf("it holds %q now, %v, and told %q", got, err, words.String())
	}
}

func writeLayout(t *testing.T, folder string, file layoutFile) {
	t.Helper()
	content, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "layout.json"), string(content))
}
