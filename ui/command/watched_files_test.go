package command

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileIsFollowedHoweverItIsReplaced(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		begin  func(t *testing.T, dir, path string)
		change func(t *testing.T, dir, path string)
	}{
		{"written in place", func(t *testing.T, _, path string) { write(t, path, "old") },
			func(t *testing.T, _, path string) { write(t, path, "new") }},
		{"replaced by a rename", func(t *testing.T, _, path string) { write(t, path, "old") },
			func(t *testing.T, _, path string) {
				write(t, path+"~", "new")
				if err := os.Rename(path+"~", path); err != nil {
					t.Fatal(err)
				}
			}},
		{"made anew after it was gone", func(t *testing.T, _, path string) { write(t, path, "old") },
			func(t *testing.T, _, path string) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				write(t, path, "new")
			}},
		{"behind a link", func(t *testing.T, dir, path string) {
			other := filepath.Join(dir, "elsewhere")
			if err := os.Mkdir(other, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(other, "key"), "old")
			if err := os.Symlink(filepath.Join(other, "key"), path); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "elsewhere", "key"), "new") }},
		{"behind a link to a folder that is swapped, as mounted secrets are", func(t *testing.T, dir, path string) {
			swap(t, dir, "first", "old")
			if err := os.Symlink(filepath.Join("..data", "key"), path); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, dir, _ string) { swap(t, dir, "second", "new") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "key")
			c.begin(t, dir, path)
			sees(t, path, func() { c.change(t, dir, path) })
		})
	}
}

func TestAFileOfTheWorkingDirectoryIsFollowed(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "key", "old")
	sees(t, "key", func() { write(t, "key", "new") })
}

// sees follows a file that holds "old", changes it, and waits until "new" is seen.
func sees(t *testing.T, path string, change func()) {
	t.Helper()
	seen := make(chan string, 100)
	owned(t, func(ctx context.Context) error {
		return followFile(ctx, path, func() {
			content, _ := os.ReadFile(path)
			seen <- string(content)
		})
	})
	if first := <-seen; first != "old" {
		t.Fatalf("at the start it holds %q", first)
	}
	change()
	late := time.After(30 * time.Second)
	for {
		select {
		case content := <-seen:
			if content == "new" {
				return
			}
		case <-late:
			t.Fatal("the change was not noticed")
		}
	}
}

// swap has ..data lead to a folder of that name in which a key is.
func swap(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, name, "key"), content)
	link := filepath.Join(dir, "..data")
	if err := os.Symlink(name, link+"_tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+"_tmp", link); err != nil {
		t.Fatal(err)
	}
}

func TestAFileInABusyFolderIsStillNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	write(t, path, "old")
	seen := make(chan struct{}, 1000)
	owned(t, func(ctx context.Context) error {
		return followFile(ctx, path, func() { seen <- struct{}{} })
	})
	owned(t, func(ctx context.Context) error {
		busy := time.NewTicker(fileSettles / 5)
		defer busy.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-busy.C:
			}
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte("x"), 0o600); err != nil {
				return err
			}
		}
	})
	<-seen
	write(t, path, "new")
	select {
	case <-seen:
	case <-time.After(30 * time.Second):
		t.Error("the change was not noticed while others came")
	}
}
