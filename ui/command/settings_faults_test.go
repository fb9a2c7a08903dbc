package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSeveralFaultsAreListedBelowEachOther(t *testing.T) {
	got := inLines(errors.Join(errors.New("the first \x1b[31mof them"), errors.New("another")))
	if first, second, _ := strings.Cut(got, "\n  "); !strings.HasPrefix(first, "the first ") || strings.Contains(first, "\x1b") || second != "another" {
		t.Errorf("reported as %q", got)
	}
}

func TestAFileOfSettingsIsReadToAnEnd(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large")
	writeFile(t, large, "")
	if err := os.Truncate(large, 2<<30); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, path, says string }{
		{"a folder", folder, "read " + folder + ": "},
		{"2 GB", large, "read " + large + ": larger than 1048576 bytes"},
	} {
		for flag, names := range map[string]string{"config": "reading the configuration file " + c.path + ": ", "api_key_file": "reading the file that api_key_file names: "} {
			t.Run(c.name+" as "+flag, func(t *testing.T) {
				isolate(t)
				t.Setenv("TILLWATCH_"+strings.ToUpper(flag), c.path)
				if _, err := loadSettings(newWatch().Flags()); err == nil || !strings.HasPrefix(err.Error(), names+c.says) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestAFileWithoutItsSecretIsRefused(t *testing.T) {
	for _, key := range []string{"api_key", "signing_secret", "relay_token", "postgres"} {
		for name, content := range map[string]string{"empty": "", "a line break": "\n", "blanks": "  \r\n\n"} {
			t.Run(key+", "+name, func(t *testing.T) {
				path := filepath.Join(isolate(t), "secret")
				writeFile(t, path, content)
				t.Setenv("TILLWATCH_"+strings.ToUpper(key)+"_FILE", path)
				if _, err := loadSettings(newWatch().Flags()); err == nil || !strings.Contains(err.Error(), key+"_file names: "+path+" holds no secret") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestAPipeThatNobodyWritesToIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes, began := make(chan struct{}), time.Now()
		defer close(writes)
		_, err := inTime(func() ([]byte, error) {
			<-writes
			return nil, nil
		})
		if err == nil || !strings.Contains(err.Error(), "is it a pipe that nobody writes to?") || time.Since(began) != givenWithin {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}
