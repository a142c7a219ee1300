# SPDX-License-Identifier: BSD-3-Clause
"""Made by src/mpi/calls/python_binding.py from calls.ini; edit that table."""

PROTOTYPES = """\
int ORIEL_Get_version(int* major, int* minor, int* patch);
int ORIEL_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int ORIEL_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int ORIEL_Win_icomplete(MPI_Win win, MPI_Request* request);
int ORIEL_Win_iwait(MPI_Win win, MPI_Request* request);
int ORIEL_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
int ORIEL_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
int ORIEL_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
int ORIEL_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
int ORIEL_Win_iunlock_all(MPI_Win win, MPI_Request* request);
int ORIEL_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
int ORIEL_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
int ORIEL_Win_iflush_all(MPI_Win win, MPI_Request* request);
int ORIEL_Win_iflush_local_all(MPI_Win win, MPI_Request* request);
int ORIEL_Rrput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request* request);
int ORIEL_Rraccumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
int ORIEL_Rrget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
int ORIEL_Win_dup_with_info(MPI_Win parent, MPI_Info info, MPI_Win* win);
int ORIEL_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parent,
    void* memhandle, int* memhandle_size);
int ORIEL_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
    int target, MPI_Win parent, MPI_Win* win);
int ORIEL_Memhandle_release(void* memhandle, MPI_Win parent);
int ORIEL_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
    int* flag);
int ORIEL_Put_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win, int tag);
int ORIEL_Rput_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Get_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, int tag);
int ORIEL_Rget_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);
int ORIEL_Raccumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Get_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);
int ORIEL_Rget_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Fetch_and_op_notify(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win, int tag);
int ORIEL_Compare_and_swap_notify(const void* origin_addr, const void* compare_addr,
    void* result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win,
    int tag);
int ORIEL_Notify_init(MPI_Win win, int source, int tag, int expected_count, MPI_Request* request);
int ORIEL_Win_wait_notify(MPI_Win win, int id, MPI_Request* request);
int ORIEL_Notify_probe(MPI_Win win, int source, int tag, MPI_Status* status);
int ORIEL_Notify_iprobe(MPI_Win win, int source, int tag, int* flag, MPI_Status* status);
int ORIEL_Err_rma_notification(void);
int ORIEL_Win_set_num_notify(MPI_Win win, MPI_Info info, int num);
int ORIEL_Win_get_num_notify(MPI_Win win, int rank, int* num);
int ORIEL_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
int ORIEL_Win_set_notify_value(MPI_Win win, int notification_idx, MPI_Count value);
int ORIEL_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
int ORIEL_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count threshold,
    MPI_Request* request);
int ORIEL_Put_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int ORIEL_Rput_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Get_notify_counter_c(void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int ORIEL_Rget_notify_counter_c(void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win);
int ORIEL_Raccumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win,
    MPI_Request* request);
int ORIEL_Get_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win);
int ORIEL_Rget_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, int notification_idx, MPI_Win win,
    MPI_Request* request);
int ORIEL_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int ORIEL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int ORIEL_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int ORIEL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
int ORIEL_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request* request);
int ORIEL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int ORIEL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);
"""
