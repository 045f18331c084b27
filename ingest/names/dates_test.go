package names

import (
	"testing"
)

func TestIsDate(t *testing.T) {
	for _, name := range []string{"2-Sep", "2-sep", "02-Sep", "1-Mar", "14-MAR", "07. Sep", "1.Okt", "1-oct.", "1-août", "01-set", "3-Mai", "1-Dez",
		"2-Sep-24", "2-Sep-2024", "Sep-02", "sep-02", "Sep 02", "Oct-45", "Dec-10", "2024-09-02", "2024-09-02 00:00:00", "2024-09-02T00:00:00",
		"02/09/2024", "9/2/24", "7.9.2023", "9月2日", "09월 02일"} {
		if !IsDate([]byte(name)) {
			t.Errorf("%s: is not taken for a date", name)
		}
	}
	for _, name := range []string{"", "SEP2", "SEPT2", "MARCH1", "MARCHF1", "OCT1", "DEC1", "Dec1", "Sep15", "AARS.1", "MARC.1", "MAR.2", "Sep.02",
		"sep-1", "dec-1", "apr-1", "jun-1", "mar-10", "SEP-1", "OCT-4", "HLA-A", "NKX2-1", "act1-129", "14-3-3", "tRNA-1-2", "1-2", "7", "44441", "45000",
		"2-Sept-1", "YAL001C", "YBL008W-A", "2310-09-02", "1.1.1.1", "2.7.10.1", "ENSG00000141510.18", "1-may-be", "1-dec2", "5-Lip", "3-Oct4"} {
		if IsDate([]byte(name)) {
			t.Errorf("%s: is taken for a date", name)
		}
	}
}
