package dashboard

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"
)

func TestTheUseOfTheQuotaLooksAsItShould(t *testing.T) {
	cases := []struct {
		name string
		keys []string
	}{
		{"seconds", []string{"u"}},
		{"minutes", []string{"u", "w", "j", "j"}},
		{"hours", []string{"u", "w", "w", "b", "b", "b"}},
		{"folded", []string{"u", "h", "j", "h", "s", "s"}},
		{"requests", []string{"u", "w", "enter"}},
	}
	for _, size := range [][2]int{{200, 55}, {160, 45}, {120, 36}, {80, 24}} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s %dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				var text string
				synctest.Test(t, func(t *testing.T) {
					m := boardOf(t, spentShop(time.Now()), size[0], size[1])
					press(m, c.keys...)
					text = screen(m)
					plain := boardOf(t, spentShop(time.Now()), size[0], size[1], func(c *Config) { c.NoColor = true })
					press(plain, c.keys...)
					if got := screen(plain); got != text {
						t.Errorf("without colours it is another picture:\n%s\nwant\n%s", got, text)
					}
				})
				golden.RequireEqual(t, text)
			})
		}
	}
}
