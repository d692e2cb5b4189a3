/* SPDX-License-Identifier: BSD-3-Clause */
/* makers.h - a table of the MPI calls that mortar takes only to see which communicators they make:
 * MAKER(name, symbol without MPI_, number of arguments, parameters, arguments), the latter two in
 * parentheses. The last argument is where the communicator is put, `made`. Define MAKER before
 * including it. */
MAKER(comm_dup, Comm_dup, 2, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKER(comm_dup_with_info, Comm_dup_with_info, 3, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
      (comm, info, made))
MAKER(comm_split, Comm_split, 4, (MPI_Comm comm, int color, int key, MPI_Comm *made),
      (comm, color, key, made))
MAKER(comm_split_type, Comm_split_type, 5,
      (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
      (comm, kind, key, info, made))
MAKER(comm_create, Comm_create, 3, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),
      (comm, group, made))
MAKER(comm_create_group, Comm_create_group, 4,
      (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made))
MAKER(cart_create, Cart_create, 6,
      (MPI_Comm comm, int dims, const int sides[], const int periods[], int reorder,
       MPI_Comm *made),
      (comm, dims, sides, periods, reorder, made))
MAKER(cart_sub, Cart_sub, 3, (MPI_Comm comm, const int kept[], MPI_Comm *made), (comm, kept, made))
MAKER(dist_graph_create_adjacent, Dist_graph_create_adjacent, 10,
      (MPI_Comm comm, int ins, const int sources[], const int in_weights[], int outs,
       const int destinations[], const int out_weights[], MPI_Info info, int reorder,
       MPI_Comm *made),
      (comm, ins, sources, in_weights, outs, destinations, out_weights, info, reorder, made))
