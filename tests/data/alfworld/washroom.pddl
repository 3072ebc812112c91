; A small washroom in which four receptacles clean, or do not, by their types: a basin, a trough that is a sink, a tub
; that is both (they are the only things reached from one place), and a shelf. SinkType is declared among the types of
; objects, as the official files have it, so nothing can be put into what is a sink and nothing else.
(define (problem washroom)
(:domain alfred)
(:objects
 agent1 - agent
 ClothType SoapBarType SinkType - otype
 SinkBasinType ShelfType - rtype
 Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50 - object
 Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50 - object
 SoapBar_bar__plus_01_dot_40_bar__plus_00_dot_50 - object
 Sink_bar__plus_02_dot_00_bar__plus_00_dot_70_bar_SinkBasin - receptacle
 Trough_bar__plus_03_dot_00_bar__plus_00_dot_60 - receptacle
 Tub_bar__plus_03_dot_10_bar__plus_00_dot_60 - receptacle
 Shelf_bar__plus_01_dot_00_bar__plus_00_dot_40 - receptacle
 loc_bar_0_bar_0_bar_0_bar_0 - location
 loc_bar_1_bar_0_bar_0_bar_30 - location
 loc_bar_2_bar_0_bar_0_bar_30 - location
 loc_bar_3_bar_0_bar_1_bar_30 - location
)
(:init
 (= (total-cost) 0)
 (atLocation agent1 loc_bar_0_bar_0_bar_0_bar_0)
 (receptacleType Sink_bar__plus_02_dot_00_bar__plus_00_dot_70_bar_SinkBasin SinkBasinType)
 (receptacleType Trough_bar__plus_03_dot_00_bar__plus_00_dot_60 SinkType)
 (receptacleType Tub_bar__plus_03_dot_10_bar__plus_00_dot_60 SinkBasinType)
 (receptacleType Tub_bar__plus_03_dot_10_bar__plus_00_dot_60 SinkType)
 (receptacleType Shelf_bar__plus_01_dot_00_bar__plus_00_dot_40 ShelfType)
 (receptacleAtLocation Shelf_bar__plus_01_dot_00_bar__plus_00_dot_40 loc_bar_1_bar_0_bar_0_bar_30)
 (receptacleAtLocation Sink_bar__plus_02_dot_00_bar__plus_00_dot_70_bar_SinkBasin loc_bar_2_bar_0_bar_0_bar_30)
 (receptacleAtLocation Trough_bar__plus_03_dot_00_bar__plus_00_dot_60 loc_bar_3_bar_0_bar_1_bar_30)
 (receptacleAtLocation Tub_bar__plus_03_dot_10_bar__plus_00_dot_60 loc_bar_3_bar_0_bar_1_bar_30)
 (objectType Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50 ClothType)
 (objectType Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50 ClothType)
 (objectType SoapBar_bar__plus_01_dot_40_bar__plus_00_dot_50 SoapBarType)
 (pickupable Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50)
 (pickupable Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50)
 (pickupable SoapBar_bar__plus_01_dot_40_bar__plus_00_dot_50)
 (cleanable Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50)
 (cleanable Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50)
 (inReceptacle Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50 Shelf_bar__plus_01_dot_00_bar__plus_00_dot_40)
 (inReceptacle Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50 Trough_bar__plus_03_dot_00_bar__plus_00_dot_60)
 (inReceptacle SoapBar_bar__plus_01_dot_40_bar__plus_00_dot_50 Shelf_bar__plus_01_dot_00_bar__plus_00_dot_40)
 (objectAtLocation Cloth_bar__plus_01_dot_00_bar__plus_00_dot_50 loc_bar_1_bar_0_bar_0_bar_30)
 (objectAtLocation Cloth_bar__plus_01_dot_20_bar__plus_00_dot_50 loc_bar_3_bar_0_bar_1_bar_30)
 (objectAtLocation SoapBar_bar__plus_01_dot_40_bar__plus_00_dot_50 loc_bar_1_bar_0_bar_0_bar_30)
 (canContain ShelfType ClothType)
 (canContain ShelfType SoapBarType)
 (canContain SinkBasinType ClothType)
 (canContain SinkType ClothType)
)
(:goal GOAL)
)
