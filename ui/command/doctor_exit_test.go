package command

import (
	"encoding/json"
	"strings"
	"testing"

	"tillwatch/ui/doctor"
)

func TestTheExitCodeOfADoctorSaysWhetherThereAreFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		put    func(*doctorCase)
		code   int
		faults int
		says   string
	}{
		{name: "healthy", put: func(*doctorCase) {}, code: exitDone},
		{name: "a fault", put: func(c *doctorCase) { c.settings["relay_token"] = "another-token-of-16" }, code: exitFailed, faults: 1, says: "there are faults"},
		{name: "a flag that is none", put: func(c *doctorCase) { c.args = []string{"--jsno"} }, code: exitUsage, says: "did you mean --json?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := healthySetup(t, doctors(t))
			test.put(c)
			code, out, words := invoke(t, append([]string{"doctor", "--json"}, c.arguments()...)...)
			if code != test.code || !strings.Contains(words, test.says) {
				t.Fatalf("exit code %d, want %d with %q: %s", code, test.code, test.says, words)
			}
			if test.code == exitUsage {
				return
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			var sum map[doctor.Verdict]int
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil || sum[doctor.Fault] != test.faults {
				t.Errorf("%d faults, want %d (%v): %s", sum[doctor.Fault], test.faults, err, out)
			}
		})
	}
}
