package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhatNoReadSettlesIsClosedByHand(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	real := strings.Replace(s.url, "127.0.0.1", "0.0.0.0", 1) // which is not known to move no money
	config := configFile(t, "api_url", real, "api_key", "key-of-the-test", "state_dir", s.state, "insecure_http", "true")
	var log strings.Builder
	for _, line := range []struct {
		attempt, reference string
		ago                time.Duration
	}{{"LOSTSEVEN7777", "order-7", 90 * time.Minute}, {"LOSTEIGHT8888", "order-8", 90 * time.Minute}, {"LOSTNINE99999", "order-9", 0}} {
		fmt.Fprintf(&log, `{"at":%q,"attempt":%q,"environment":%q,"intent":"new %s 0123456789abcdef","stage":"sending","product":%q,"quantity":1,"total":"at most 60.00 USD"}`+"\n",
			time.Now().Add(-line.ago).UTC().Format(time.RFC3339Nano), line.attempt, strings.TrimPrefix(real, "http://"), line.reference, chiliCrisp)
	}
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.state, "confirms.jsonl"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	made := runAs(t, "create", chiliCrisp, "--test-buyer", "--reference", "order-8", "--json", "--config", s.config)
	_, id, _ := strings.Cut(made.out, `"intent":{"id":"`)
	id, _, _ = strings.Cut(id, `"`)

	cases := []struct {
		name string
		args string
		code int
		says string // on stdout, or else on stderr
	}{
		{"all are listed", "", exitDone, "LOSTSEVEN7777  1 × " + chiliCrisp + ", of order-7, at most 60.00 USD, sent to 0.0.0.0"},
		{"as JSON", "--json", exitDone, `"reference":"order-8","most":"at most 60.00 USD","verdict":"unknown"`},
		{"none is named", "--close", exitUsage, "which one?"},
		{"nothing of that name", "order-1 --close", exitUsage, "tillwatch settle lists them all"},
		{"both at once", "order-7 --close --made ci_1", exitUsage, "give --made or --close, not both"},
		{"without a word about it", "order-7", exitUsage, "at most 60.00 USD, sent to 0.0.0.0"},
		{"read-only", "order-7 --close", exitUsage, "which makes a second one if it was made after all. Give --allow-confirm"},
		{"not sure", "order-7 --close --allow-confirm", exitUsage, "the last four characters of the attempt"},
		{"sure of something else", "order-7 --close --allow-confirm --live er-7", exitUsage, "not how the attempt ends"},
		{"it may be on its way", "order-9 --close --allow-confirm --live 9999", exitFailed, "it may still be on its way: wait until"},
		{"it came of nothing that is there", "order-8 --made ci_00000000000000000000000000000000", exitFailed, "not settled, 1 × " + chiliCrisp},
		{"it came of something else", "order-7 --made " + id, exitFailed, "is something else: 1 × " + chiliCrisp},
		{"it came of what is there", "order-8 --made " + id, exitDone, "settled: " + id + " came of 1 × " + chiliCrisp},
		{"that is known now", "order-8 --made " + id, exitUsage, "no creation or purchase of unknown outcome has the reference or attempt"},
		{"closed", "LOSTSEVEN7777 --close --allow-confirm --live 7777 --json", exitDone, `"verdict":"closed by hand"`},
		{"what is left", "", exitDone, "LOSTNINE99999"},
	}
	for _, c := range cases {
		r := runAs(t, append([]string{"settle", "--config", config}, strings.Fields(c.args)...)...)
		said := r.words
		if c.code == exitDone {
			said = r.out
		}
		if r.code != c.code || !strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(c.says), " ")) {
			t.Errorf("%s: exit code %d, want %d:\n%s%s", c.name, r.code, c.code, r.out, r.words)
		}
	}
	unnamed := fmt.Sprintf(`{"at":"2026-01-02T03:04:05Z","attempt":"LOSTNAMELESS","environment":%q,"intent":"new LOSTNAMELESS","stage":"sending","product":%q,"quantity":1}`+"\n", strings.TrimPrefix(real, "http://"), chiliCrisp)
	if err := appendTo(filepath.Join(s.state, "confirms.jsonl"), unnamed); err != nil {
		t.Fatal(err)
	}
	if r := runAs(t, "settle", "", "--close", "--allow-confirm", "--live", "LESS", "--config", config); r.code != exitUsage {
		t.Errorf("no name is one without a reference: exit code %d, %s%s", r.code, r.out, r.words)
	}
	if r := runAs(t, "settle", "--config", config); strings.Contains(r.out, "order-7") || strings.Contains(r.out, "order-8") {
		t.Errorf("still listed:\n%s", r.out)
	}
}

func TestSettleDoesNotSpeakForWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	const caveat = "what went to a stand-in is not on record"
	if r := runAs(t, "settle", "--config", s.config); !strings.Contains(r.words, caveat) {
		t.Errorf("before all it says %s", r.words)
	}
	id, total := s.awaiting(t, chiliCrisp)
	mustExit(t, exitDone, "", "confirm", id, "--total", strings.ReplaceAll(total, " ", ""), "--allow-confirm", "--config", s.config)
	if r := runAs(t, "settle", "--config", s.config); !strings.Contains(r.words, caveat) {
		t.Errorf("after a confirm it says %s", r.words)
	}
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
