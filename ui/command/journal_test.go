package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPostgresDSNIsTakenAndItsPasswordIsNeverPrinted(t *testing.T) {
	const nobody = nowhere
	secret := "postgres://relay:tell-nobody@" + nobody + "/events"
	file := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		flag string
		env  map[string]string
		code int
		want string
	}{
		{"a password in the flag", secret, nil, exitUsage, "TILLWATCH_POSTGRES_FILE"},
		{"a password in the query of the flag", "postgres://" + nobody + "/events?password=tell-nobody", nil, exitUsage, "TILLWATCH_POSTGRES"},
		{"a password among key words of the flag", "host=127.0.0.1\tpassword=tell-nobody", nil, exitUsage, "TILLWATCH_POSTGRES"},
		{"a flag without a password", "postgres://relay@" + nobody + "/events", nil, exitFailed, nobody + " does not answer"},
		{"the environment", "", map[string]string{"TILLWATCH_POSTGRES": secret}, exitFailed, nobody + " does not answer"},
		{"a file", "", map[string]string{"TILLWATCH_POSTGRES_FILE": file}, exitFailed, nobody + " does not answer"},
		{"the flag over the environment", "postgres://relay@" + nobody + "/events",
			map[string]string{"TILLWATCH_POSTGRES": "malformed tell-nobody"}, exitFailed, nobody + " does not answer"},
		{"a malformed one", "", map[string]string{"TILLWATCH_POSTGRES": "malformed tell-nobody"}, exitFailed, "DSN cannot be read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := isolate(t)
			t.Setenv("TILLWATCH_SIGNING_SECRET", "sixteen-bytes-at-least")
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			args := []string{"relay", "--listen", "127.0.0.1:0", "--data", dir}
			if c.flag != "" {
				args = append(args, "--postgres", c.flag)
			}
			var out, words bytes.Buffer
			code := run(t.Context(), args, strings.NewReader(""), &out, &words)
			said := out.String() + words.String()
			sentence, rest, _ := strings.Cut(said, "\n")
			if code != c.code || !strings.Contains(sentence, c.want) || rest != "" && rest != "Try --help.\n" {
				t.Errorf("exit code %d and %q, want %d and one sentence with %q", code, said, c.code, c.want)
			}
			if strings.Contains(said, "tell-nobody") {
				t.Errorf("the password is in %q", said)
			}
		})
	}
}
