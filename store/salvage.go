package store

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// salvage finds the values of a damaged shard without LMDB, whose library trusts
// its pages and can crash on damaged ones. It looks at every page of the file that looks like a
// leaf and takes each entry that lies within bounds; what the damage hit may be missing. LMDB
// 0.9's layout: store/FORMAT.md, Pages.
//
// The values are views of file, which is memory-mapped and the caller's to unmap.
func salvage(path string) (values map[int][]byte, file []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, nil, err
	}
	if file, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, nil, err
	}
	values = make(map[int][]byte)
	for page := 0; (page+1)*pageSize <= len(file); page++ {
		leafEntries(file, page, func(key, value []byte) {
			values[int(binary.BigEndian.Uint64(key))] = value
		})
	}
	return values, file, nil
}

// LMDB's page header: page number u64, pad u16, flags u16, lower u16, upper u16. A node: data size u32, flags
// u16, key size u16, key, then the data or the number of the first page of the data.
const (
	pageSize   = 4096
	pageHeader = 16
	nodeHeader = 8
	leafPage   = 0x02
	bigData    = 0x01 // the node's data lies on pages of its own, behind a header
)

// leafEntries yields the entries of a leaf page that have the 8-byte keys of a shard.
func leafEntries(file []byte, number int, yield func(key, value []byte)) {
	page := file[number*pageSize : (number+1)*pageSize]
	lower := int(binary.LittleEndian.Uint16(page[12:]))
	if binary.LittleEndian.Uint64(page) != uint64(number) || binary.LittleEndian.Uint16(page[10:]) != leafPage || lower > pageSize {
		return
	}
	for slot := pageHeader; slot+2 <= lower; slot += 2 {
		at := int(binary.LittleEndian.Uint16(page[slot:]))
		if at+nodeHeader+8 > pageSize || binary.LittleEndian.Uint16(page[at+6:]) != 8 {
			continue
		}
		size := int(binary.LittleEndian.Uint32(page[at:]))
		flags := binary.LittleEndian.Uint16(page[at+4:])
		key, data := page[at+nodeHeader:at+nodeHeader+8], page[at+nodeHeader+8:]
		if flags == bigData {
			if len(data) < 8 || binary.LittleEndian.Uint64(data) >= uint64(len(file)/pageSize) {
				continue
			}
			data = file[int(binary.LittleEndian.Uint64(data))*pageSize+pageHeader:]
		}
		if size <= len(data) {
			yield(key, data[:size:size])
		}
	}
}
