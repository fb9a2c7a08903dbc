package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sort"
	"syscall"
	"time"

	"tillwatch/ui/terminal"
)

func main() {
	n := flag.Int("n", 11, "")
	hold := flag.Duration("hold", 0, "")
	emu := flag.Bool("emu", true, "")
	flag.Parse()
	var all []time.Duration
	for range *n {
		t, err := terminal.Start(context.Background(), terminal.Options{Width: 200, Height: 60, Emulate: *emu}, flag.Arg(0), flag.Args()[1:]...)
		if err != nil {
			panic(err)
		}
		started := t.Now()
		if *emu {
			c, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			t.WaitFor(c, terminal.Painted)
			cancel()
		} else {
			for {
				chunks, more := t.Chunks()
				s := 0
				for _, c := range chunks {
					s += len(c.Bytes)
				}
				if s > 1000 {
					break
				}
				<-more
			}
		}
		var ru string
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.Process()))
		ru = string(b)
		time.Sleep(*hold)
		chunks, _ := t.Chunks()
		at, _ := terminal.FirstPaint(chunks, 200, 60)
		if *n < 4 {
			for _, c := range chunks {
				fmt.Println(c.At, len(c.Bytes))
				if f := os.Getenv("DUMP"); f != "" {
					o, _ := os.OpenFile(f, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
					fmt.Fprintf(o, "%v %q\n", c.At, c.Bytes)
					o.Close()
				}
			}
			fmt.Println(ru)
		}
		t.Close()
		all = append(all, at)
		_ = started
		var r syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r)
		if *n < 4 {
			fmt.Println("spawn", started, "first", at, "chunks", len(chunks), "children user", r.Utime.Usec, "sys", r.Stime.Usec, "minflt", r.Minflt)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	fmt.Println("p50", all[len(all)/2], "min", all[0], "max", all[len(all)-1])
}
