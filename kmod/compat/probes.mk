# SPDX-License-Identifier: GPL-2.0
# Probes for what compat.h cannot see by the preprocessor: each line asks the headers or the
# list of exported symbols of the kernel that is built against.

cosy-header = $(if $(shell grep -lE '$(1)' $(addprefix $(srctree)/,$(2)) 2>/dev/null),-D$(3))
# A symbol that is exported to all, not to some modules only: nothing is in the last column.
cosy-symbol = $(if $(shell grep -P '\t$(1)\tvmlinux\t\w+\t*$$' $(objtree)/Module.symvers 2>/dev/null),-D$(2))

cosy-compat := $(call cosy-header,vm_flags_set.struct,include/linux/mm.h,COSY_HAVE_VM_FLAGS_SET) \
	       $(call cosy-header,int import_ubuf,include/linux/uio.h,COSY_HAVE_IMPORT_UBUF) \
	       $(call cosy-header,timespec64 inode_get_atime,include/linux/fs.h,COSY_HAVE_INODE_TIMES) \
	       $(call cosy-header,hlist_node d_sib,include/linux/dcache.h,COSY_HAVE_D_SIB) \
	       $(call cosy-header,bool mapping_stable_writes,include/linux/pagemap.h,COSY_HAVE_STABLE_MAPPINGS) \
	       $(call cosy-header,mnt_idmap .mnt_idmap,include/linux/mount.h,COSY_HAVE_IDMAP) \
	       $(call cosy-header,folio_batch,include/linux/pagevec.h,COSY_HAVE_PAGEVEC) \
	       $(call cosy-header,page_is_fake_head,include/linux/page-flags.h,COSY_HAVE_FAKE_HEADS) \
	       $(call cosy-header,seqlock_t seq,include/linux/fs_struct.h,COSY_HAVE_FS_SEQLOCK) \
	       $(call cosy-header,bool poll_usage,include/linux/pipe_fs_i.h,COSY_HAVE_POLL_USAGE) \
	       $(call cosy-header,zap_vma_ptes.struct,include/linux/mm.h,COSY_HAVE_ZAP_VMA_PTES) \
	       $(call cosy-header,shmem_file_setup.*vma_flags_t,include/linux/shmem_fs.h,COSY_HAVE_VMA_FLAGS) \
	       $(call cosy-header,u32.*atomic_write_unit_max_opt,include/linux/stat.h,COSY_HAVE_STATX_MAX_OPT) \
	       $(call cosy-header,vmf_insert_pfn_pmd.*pfn_t,include/linux/huge_mm.h,COSY_HAVE_PFN_T) \
	       $(call cosy-header,huge_fault.*unsigned int order,include/linux/mm.h,COSY_HAVE_FAULT_ORDER) \
	       $(call cosy-header,umode_t. bool.;,include/linux/fs.h,COSY_HAVE_CREATE_EXCLUSIVE) \
	       $(call cosy-header,dentry \*\(\*mkdir\),include/linux/fs.h,COSY_HAVE_MKDIR_DENTRY) \
	       $(call cosy-header,timer_delete_sync.struct,include/linux/timer.h,COSY_HAVE_TIMER_DELETE) \
	       $(call cosy-header,bool fsnotify_sb_has_priority_watchers,include/linux/fsnotify.h,COSY_HAVE_SB_LISTENERS) \
	       $(call cosy-header,int security_file_post_open,include/linux/security.h,COSY_HAVE_FILE_POST_OPEN) \
	       $(call cosy-header,struct file_lock_context,include/linux/filelock.h,COSY_HAVE_FILELOCK) \
	       $(call cosy-symbol,vfs_get_acl,COSY_HAVE_GET_ACL) \
	       $(call cosy-symbol,kernel_sendpage,COSY_HAVE_SENDPAGE) \
	       $(call cosy-symbol,zap_page_range_single,COSY_HAVE_ZAP_SINGLE) \
	       $(call cosy-symbol,zap_page_range,COSY_HAVE_ZAP_RANGE) \
	       $(call cosy-symbol,clear_bhb_loop,COSY_HAVE_CLEAR_BHB_LOOP) \
	       $(call cosy-symbol,x86_verw_sel,COSY_HAVE_VERW_SEL) \
	       $(call cosy-symbol,entry_ibpb,COSY_HAVE_ENTRY_IBPB) \
	       $(if $(call cosy-symbol,entry_untrain_ret,y),$(call cosy-symbol,srso_alias_untrain_ret,COSY_HAVE_UNTRAIN_RET))
