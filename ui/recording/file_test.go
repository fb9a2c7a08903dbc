package recording

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/account/form"
)

func TestNoFileIsOverwritten(t *testing.T) {
	path := t.TempDir() + "/notes.txt"
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(path, form.Header{}, 0)
	if err == nil || !strings.Contains(err.Error(), "the file exists") {
		t.Errorf("err = %v", err)
	}
	if kept, _ := os.ReadFile(path); string(kept) != "mine" {
		t.Errorf("the file holds %q", kept)
	}
	_, err = Create(t.TempDir()+"/no/such/folder", form.Header{}, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

func TestARecordingEndsAtItsLimitAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4000)
		for i := range 400 {
			s.read("ci_"+time.Now().Format("150405.000"), api.AwaitingConfirmation, "")
			s.event(api.OfferRetrieved, api.SourceIntent, api.ID("ci_"+time.Now().Format("150405.000")))
			s.pass(time.Duration(100+i) * time.Millisecond)
		}
		s.running.Wait() // it has ended by itself
		s.cancel()
		state := s.recorder.State()
		if !state.Full || !state.Ended || state.Err != nil || state.Bytes > 8000 {
			t.Errorf("state %+v", state)
		}
		p := s.play(PlayerConfig{Paused: true})
		if !strings.Contains(p.Flaws(), "limit") {
			t.Errorf("flaws: %q", p.Flaws())
		}
		if got := p.Position().Length; got < time.Second {
			t.Errorf("only %v play", got)
		}
	})
}

func TestADiskThatFailsIsReportedAndDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/r"
		recorder, err := Create(path, form.Header{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		recorder.out.file.Close() // as if the disk were gone
		err = recorder.Run(t.Context(), account.NewStore(account.StoreConfig{}))
		if err == nil || err.Error() != "the recording has ended: file already closed: "+path {
			t.Errorf("err = %v", err)
		}
		if state := recorder.State(); !state.Ended || state.Err == nil {
			t.Errorf("state %+v", state)
		}
	})
}

func TestARecordingWhoseFileIsGoneSaysSo(t *testing.T) {
	cases := map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	}
	for name, lose := range cases {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/r"
			recorder, err := Create(path, form.Header{}, 0)
			if err == nil {
				err = lose(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if err := recorder.Run(ended, account.NewStore(account.StoreConfig{})); !errors.Is(err, ErrGone) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestARecordingWhoseFileWasCutSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, store := t.TempDir()+"/r", account.NewStore(account.StoreConfig{})
		recorder, err := Create(path, form.Header{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		ended, end := context.WithCancel(t.Context())
		time.AfterFunc(2*flushEvery, func() {
			if err := os.Truncate(path, 0); err != nil {
				t.Error(err)
			}
			end()
		})
		if err := recorder.Run(ended, store); !errors.Is(err, ErrGone) {
			t.Errorf("err = %v", err)
		}
	})
}
