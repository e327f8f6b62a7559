package data

import "testing"

// A column of dates in one form: the forms that time.Parse knows, one that is rewritten first, and one that has none.
func BenchmarkDates(b *testing.B) {
	for _, s := range []string{"2024-01-31", "31 Jan 2024 12:30:00", "Wed, 31 Jan 2024 12:30:00 GMT", "31 Jan 2024 3:04 pm", "2024-W05"} {
		b.Run(s, func(b *testing.B) {
			p := new(DateParser)
			for b.Loop() {
				if _, ok := p.Parse(s); !ok {
					b.Fatal(s)
				}
			}
		})
	}
}
