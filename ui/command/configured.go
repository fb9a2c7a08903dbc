package command

import "github.com/spf13/cobra"

// configured runs a command with the settings from flags, environment and
// configuration file.
func configured(run func(c *cobra.Command, s settings, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		s, err := settingsOf(c)
		if err != nil {
			return err
		}
		return run(c, s, args)
	}
}

// settingsOf returns the settings of a command, unless it is interrupted first.
func settingsOf(c *cobra.Command) (settings, error) {
	return unlessInterrupted(c.Context(), func() (settings, error) { return loadSettings(c.Flags()) })
}
