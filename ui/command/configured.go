package command

import "github.com/spf13/cobra"

// configured runs a command with the settings from flags, environment and
// configuration file.
func configured(run func(c *cobra.Command, s settings, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		s, err := loadSettings(c.Flags())
		if err != nil {
			return err
		}
		return run(c, s, args)
	}
}
