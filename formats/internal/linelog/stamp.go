package linelog

import "bytes"

// Stamp is a point in time as a line writes it: whole fields, no calendar yet.
type Stamp struct {
	Year             int32 // 0: not written
	Month, Day       int8  // 0: not written
	Hour, Min, Sec   int8
	Zoned            bool  // whether an offset from UTC is written
	Digits           int8  // of the fraction
	Offset           int32 // seconds east of UTC, where written
	Nano             int32
	from, date, till int // of its bytes in the text: with its date, the time of day, the end
}

// Known reports whether there is a stamp at all.
func (s *Stamp) Known() bool { return s.till > 0 }

// resolution returns the stamp's step in ns.
func (s *Stamp) resolution() int64 {
	step := int64(1e9)
	for range min(s.Digits, 9) {
		step /= 10
	}
	return step
}

// nextStamp finds the first time of day HH:MM:SS in b at or behind i, and reads
// the date before it and the fraction and zone behind it. No part of it is
// before floor.
func nextStamp(b []byte, i, floor int, s *Stamp) bool {
	for p := i + 2; p+6 <= len(b); p++ {
		k := bytes.IndexByte(b[p:len(b)-5], ':')
		if k < 0 {
			return false
		}
		p += k
		if b[p+3] != ':' || p-2 < floor {
			continue
		}
		h, ok1 := two(b[p-2:])
		m, ok2 := two(b[p+1:])
		sec, ok3 := two(b[p+4:])
		if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 60 {
			continue
		}
		if p-3 >= floor && digit(b[p-3]) || p+6 < len(b) && digit(b[p+6]) {
			continue
		}
		*s = Stamp{Hour: h, Min: m, Sec: min(sec, 59), date: p - 2, till: p + 6} // 60 is a leap second
		s.tail(b)
		s.readDate(b, floor)
		return true
	}
	return false
}

func digit(c byte) bool { return c-'0' <= 9 }

// two reads two digits.
func two(b []byte) (int8, bool) {
	if len(b) < 2 || !digit(b[0]) || !digit(b[1]) {
		return 0, false
	}
	return int8((b[0]-'0')*10 + b[1] - '0'), true
}

// tail reads the fraction and the zone behind the seconds.
func (s *Stamp) tail(b []byte) {
	i := s.till
	if i+1 < len(b) && (b[i] == '.' || b[i] == ',') && digit(b[i+1]) {
		unit := int32(1e8)
		for i++; i < len(b) && digit(b[i]); i++ {
			s.Nano += int32(b[i]-'0') * unit
			unit /= 10
			if s.Digits < 9 {
				s.Digits++
			}
		}
		s.till = i
	}
	if i < len(b) && b[i] == 'Z' {
		s.Zoned = true
		s.till = i + 1
		return
	}
	if i+5 > len(b) || b[i] != '+' && b[i] != '-' {
		return
	}
	h, ok := two(b[i+1:])
	j := i + 3
	if b[j] == ':' {
		j++
	}
	m, ok2 := two(b[j:])
	if !ok || !ok2 || h > 15 || m > 59 || j+2 < len(b) && digit(b[j+2]) {
		return
	}
	s.Offset = int32(h)*3600 + int32(m)*60
	if b[i] == '-' {
		s.Offset = -s.Offset
	}
	s.Zoned = true
	s.till = j + 2
}

// readDate reads the date in front of the time: MM-DD, YYYY-MM-DD, the same with
// slashes, or "Feb  5".
func (s *Stamp) readDate(b []byte, floor int) {
	s.from = s.date
	i := s.date - 1 // of the separator
	if i-5 < floor || b[i] != ' ' && b[i] != 'T' && b[i] != '_' {
		return
	}
	day, ok := two(b[i-2:])
	if !ok {
		s.syslogDate(b, floor, i)
		return
	}
	sep := b[i-3]
	if sep != '-' && sep != '/' {
		s.syslogDate(b, floor, i)
		return
	}
	month, ok := two(b[i-5:])
	if !ok || month < 1 || month > 12 || day < 1 || day > 31 {
		return
	}
	if i-10 >= floor && b[i-6] == sep {
		hi, ok1 := two(b[i-10:])
		lo, ok2 := two(b[i-8:])
		if ok1 && ok2 && hi >= 19 && (i-11 < floor || !digit(b[i-11])) {
			s.Year, s.Month, s.Day, s.from = int32(hi)*100+int32(lo), month, day, i-10
			return
		}
	}
	if i-6 >= floor && (digit(b[i-6]) || b[i-6] == sep) {
		return
	}
	s.Month, s.Day, s.from = month, day, i-5
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

// syslogDate reads "Feb  5" or "Feb 05" in front of the space at i.
func (s *Stamp) syslogDate(b []byte, floor, i int) {
	if i-6 < floor || b[i-3] != ' ' || !digit(b[i-1]) || b[i-2] != ' ' && !digit(b[i-2]) {
		return
	}
	day := int8(b[i-1] - '0')
	if b[i-2] != ' ' {
		day += int8(b[i-2]-'0') * 10
	}
	for m := 0; m < 12; m++ {
		if string(b[i-6:i-3]) == monthNames[3*m:3*m+3] && day >= 1 && day <= 31 {
			s.Month, s.Day, s.from = int8(m+1), day, i-6
		}
	}
}
