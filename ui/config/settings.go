// Package config holds the settings: what flags, environment, configuration file and defaults say, in this order of
// precedence. The struct tags of [Settings] say everything about a setting that its type does not; the flags, the
// example file and the messages are made of them.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
)

// Settings are the merged values. The tags of a field:
//
//	koanf    its name in the configuration file; its flag has hyphens, its variable is TILLWATCH_ and capitals
//	help     what it does, for its flag and in the example file
//	must     what it must be, beyond the kind of its type
//	section  the heading above it in the example file
//	private  its value may hold a secret and is never repeated
//
// Secrets may also come from a file, named by the setting KEY_file, and never from flags: other users of a machine can
// read a command line.
type Settings struct {
	APIURL string     `koanf:"api_url" section:"The account. Use files for secrets." help:"base address of the service, without /api/v1"`
	APIKey api.Secret `koanf:"api_key" help:"key of the account"`

	RelayURL   string     `koanf:"relay_url" help:"address of the relay"`
	RelayToken api.Secret `koanf:"relay_token" help:"token that may read the relay's events"`

	InsecureHTTP bool     `koanf:"insecure_http" help:"send keys and tokens over http:// to other machines too; anyone on the way can read them"`
	WatchIDs     []string `koanf:"watch_id" help:"id of another intent to watch, besides those in events (repeatable)"`
	WatchList    string   `koanf:"watch_ids" help:"file with ids of intents to watch, one per line, # for comments, reloaded when it changes; - reads stdin if there is no screen"`

	HeaderPrefix  string        `koanf:"header_prefix" section:"How the service differs from its contract's defaults." help:"prefix of a delivery's headers" must:"of letters, digits and hyphens, as in x-svc-"`
	LookupPath    string        `koanf:"lookup_path" help:"path of the product lookup" must:"a path that begins with / and has no query, as in /api/v1/products/lookup"`
	ConfirmWindow time.Duration `koanf:"confirm_window" help:"how long after its creation an intent can be confirmed" must:"a time from a second to 30 days, such as 45m"`
	ConfirmBody   string        `koanf:"confirm_body" private:"true" help:"JSON to send with a confirm" must:"a JSON object, as in '{\"paymentMethod\":{\"type\":\"drawdown\"}}'"`
	DayLimit      int           `koanf:"day_limit" help:"intents that the account may make in a day" must:"the number of intents that the account may make in a day, 1 or more"`
	AgentsLimit   int           `koanf:"agents_limit" help:"orders that may be placed at a time" must:"the number of orders that may be placed at a time, 1 or more"`

	AllowConfirm  bool          `koanf:"allow_confirm" section:"What tillwatch may do." help:"allow confirming intents; otherwise the dashboard is read-only and confirm sends nothing"`
	PollShare     float64       `koanf:"poll_share" help:"share of the reads bucket that tillwatch may spend unasked, above 0 and at most 1" must:"a number above 0 and at most 1"`
	PollEvery     time.Duration `koanf:"poll_every" help:"how often to read open intents when nothing hints at a change, as without a relay; less often as they age" must:"a time from a second to a day, such as 30s"`
	ProxyListen   string        `koanf:"proxy_listen" help:"run a proxy at this address, such as 127.0.0.1:7440, and show its requests (tillwatch proxy --help)" must:"an address of this machine, such as 127.0.0.1:7440, as API keys pass there; for other machines use tillwatch proxy --allow-remote"`
	SpenderHeader string        `koanf:"spender_header" help:"header that names a proxy's caller in dashboards (default: User-Agent)"`

	Theme       string        `koanf:"theme" section:"The screen." help:"theme: auto (dark or light, as the terminal is), a name from tillwatch themes, or a file of your own, as in ./my.toml"`
	Filter      string        `koanf:"filter" help:"filter the intents at the start, such as merchant:acme, or by the name of a filter saved with :save"`
	Notify      string        `koanf:"notify" help:"how to notify you while the terminal is not focused: auto, bell, osc9, osc99, osc777, off" must:"one of auto, bell, osc9, osc99, osc777, off"`
	NoOpen      bool          `koanf:"no_open" help:"copy links instead of opening them in a browser"`
	IdleAfter   time.Duration `koanf:"idle_after" help:"without key or mouse until you count as away; 0: never" must:"a time of a second or more, such as 5m, or 0 for never"`
	KeepIntents int           `koanf:"keep_intents" help:"how many ended intents to keep, the newest; open ones are always kept" must:"the number of ended intents to keep, from 1 to 1000000"`
	StateDir    string        `koanf:"state_dir" help:"folder for the audit log and saved state" must:"a folder"`

	AlertCommand     Program `koanf:"alert_command" section:"Alerts also go to a program, as JSON on its stdin (ALERTS.md)." private:"true" help:"the program with its arguments; no shell runs it" must:"a program and its arguments, such as [\"notify-alert\", \"--to\", \"till\"]"`
	AlertCommandLive bool    `koanf:"alert_command_live" help:"run it where money is real, too"`

	SigningSecret api.Secret `koanf:"signing_secret" section:"For the relay." help:"signing secret of deliveries; during a rotation both, one per line"`
	Postgres      api.Secret `koanf:"postgres" help:"keep journal and tokens in this PostgreSQL database, which several relays may share (a DSN with a password goes into TILLWATCH_POSTGRES or TILLWATCH_POSTGRES_FILE)"`

	Alerts   Alerts               `koanf:"alerts"`
	Keys     map[string]Shortcuts `koanf:"keys"`
	Commands []Command            `koanf:"command" private:"true" must:"tables, as in [[command]]"`

	// Chosen is the chosen profile; "" for none.
	Chosen string `koanf:"-"`
	// Profiles are the configuration file's profiles.
	Profiles []string `koanf:"-"`
	// SecretFiles are the files that the secrets were read from, by setting.
	SecretFiles map[string]string `koanf:"-"`
}

// Alerts are the thresholds of alerts; 0 switches one off. They convert to [account.AlertConfig].
type Alerts struct {
	AwaitingAfter  time.Duration `koanf:"awaiting_after" help:"an intent awaits confirmation for this long"`
	ExpiringWithin time.Duration `koanf:"expiring_within" help:"its confirm window closes this soon"`
	StuckAfter     time.Duration `koanf:"stuck_after" help:"an order is being placed for this long"`
	StuckFactor    float64       `koanf:"stuck_factor" help:"and for this many times as long as usual" must:"a number of 1 or more, or 0 to use only stuck_after"`
	FailedFor      time.Duration `koanf:"failed_for" help:"how long a failure stays an alert"`
	PartlyFor      time.Duration `koanf:"partly_for" help:"how long a partly failed order stays one once it has ended"`
	RelayLostAfter time.Duration `koanf:"relay_lost_after" help:"the relay cannot be reached for this long"`
	SilentAfter    int           `koanf:"relay_silent_after" help:"changes found by reads without an event" must:"a number of changes, or 0 for never"`
	QuotaWithin    time.Duration `koanf:"quota_within" help:"a bucket runs out this soon"`
	DayLeft        int           `koanf:"day_left" help:"only this many intents are left today" must:"a number of intents, or 0 for never"`
}

// Program is a program with its arguments, and Shortcuts are the keys of an action.
type (
	Program   []string
	Shortcuts []string
)

// Command is a program that the configuration binds to a key: a [[command]] table.
type Command struct {
	Key     string   `koanf:"key"`  // "": only the palette runs it
	Name    string   `koanf:"name"` // in help, footer and palette
	Program string   `koanf:"program"`
	Args    []string `koanf:"args"`
	Confirm *bool    `koanf:"confirm"` // false: it runs without asking; nil: true
	Live    bool     `koanf:"live"`    // it may run where money is real
}

// Defaults are the settings that nobody gave.
func Defaults() Settings {
	return Settings{
		HeaderPrefix: "x-svc-", LookupPath: quota.DefaultLookupPath, ConfirmWindow: api.ConfirmWindow, DayLimit: 50, AgentsLimit: 10,
		PollShare: 0.3, PollEvery: 30 * time.Second, Theme: "auto", Notify: "auto", IdleAfter: 5 * time.Minute,
		KeepIntents: 10_000, StateDir: StateDir(), Alerts: Alerts(account.DefaultAlerts()),
	}
}

// Error is what the user corrects in the settings or on the command line.
type Error struct{ err error }

// Wrong marks an error as an [Error]; nil stays nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Wrongf is Wrong of fmt.Errorf.
func Wrongf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// WrongAddress is [Wrong] of the error of an unusable address, with how to use it all the same, if possible.
func WrongAddress(err error) error {
	if errors.As(err, new(*api.ClearTextError)) {
		err = fmt.Errorf("%w, or allow it with --insecure-http", err)
	}
	return Wrong(err)
}

// Secrets are the keys and tokens, some perhaps unset.
func (s Settings) Secrets() []api.Secret {
	return []api.Secret{s.APIKey, s.RelayToken, s.SigningSecret, s.Postgres}
}

// SigningSecrets are the signing secrets, the newest first: two during a rotation.
func (s Settings) SigningSecrets() (all []api.Secret) {
	for _, secret := range strings.FieldsFunc(s.SigningSecret.Reveal(), func(r rune) bool { return r == '\n' || r == '\r' }) {
		all = append(all, api.NewSecret(secret))
	}
	return all
}

// KeyFile is the file of the API key; "" if the key was given directly.
func (s Settings) KeyFile() string { return s.SecretFiles["api_key"] }

// AuditFile is the log of what was sent.
func (s Settings) AuditFile() string { return filepath.Join(s.StateDir, "confirms.jsonl") }

// Host is the service's host and port, which names the account for people.
func (s Settings) Host() string {
	if u, err := url.Parse(s.APIURL); err == nil {
		return u.Host
	}
	return ""
}

// leastSearched is the shortest secret, in bytes, that is searched for in other text: a shorter one would match
// ordinary words.
const leastSearched = 6

// Environ is an environment for programs that tillwatch starts: without its own variables and without those that hold
// a key or token of these settings.
func (s Settings) Environ(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, prefix) || slices.ContainsFunc(s.Secrets(), func(secret api.Secret) bool {
			hidden := secret.Reveal()
			return hidden != "" && value == hidden || len(hidden) >= leastSearched && strings.Contains(value, hidden)
		})
	})
}

// Redact replaces the secrets in a text, as of an error that may repeat what was sent.
func (s Settings) Redact(text string) string {
	for _, secret := range s.Secrets() {
		if len(secret.Reveal()) >= leastSearched {
			text = strings.ReplaceAll(text, secret.Reveal(), secret.String())
		}
	}
	return text
}

// RequireService refuses settings that name no account at a service.
func (s Settings) RequireService() error {
	if s.APIURL == "" {
		return Wrongf("no service is configured: give --api-url or set TILLWATCH_API_URL (or try: tillwatch demo)")
	}
	if s.APIKey.IsZero() {
		return Wrongf("no API key is configured: set TILLWATCH_API_KEY or TILLWATCH_API_KEY_FILE")
	}
	return nil
}

// RequireAccount refuses settings that name no account, or a relay without its token.
func (s Settings) RequireAccount() error { return cmp.Or(s.RequireService(), s.RequireToken()) }

// RequireToken refuses a relay without its token.
func (s Settings) RequireToken() error {
	if s.RelayURL != "" && s.RelayToken.IsZero() {
		return Wrongf("a relay is configured without its token, which TILLWATCH_RELAY_TOKEN holds or " +
			"TILLWATCH_RELAY_TOKEN_FILE names")
	}
	return nil
}

// RequireRelay refuses settings without a relay to read from.
func (s Settings) RequireRelay() error {
	if s.RelayURL == "" {
		return Wrongf("no relay is configured: give --relay-url or set TILLWATCH_RELAY_URL")
	}
	return s.RequireToken()
}

// RequireFolder refuses a folder that is not there, for what only reads or changes it: it was mistyped, and must be
// neither made nor taken for empty. The usual state folder was not typed: it is empty until something is kept.
func RequireFolder(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != StateDir() {
		return Wrongf("there is no folder %s: is it mistyped?", folder)
	}
	return nil
}

// Dir is the folder of the configuration file and of themes.
func Dir() string {
	if dir, err := os.UserConfigDir(); err == nil {
		return filepath.Join(dir, "tillwatch")
	}
	return filepath.Join(home(), ".config", "tillwatch")
}

// StateDir is the usual folder of what is kept. It follows the XDG base directory specification, which the standard
// library does only for configuration and caches.
func StateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tillwatch")
	}
	return filepath.Join(home(), ".local", "state", "tillwatch")
}

// home is the user's home, also where HOME is not set, as for some services. A temporary folder, which a restart may
// empty, is the last resort.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	return os.TempDir()
}

// sortedKeys are a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
